# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes a wheel of a folder with packages: wheel.py FOLDER LICENSE VERSION WHEEL

A wheel is a zip archive with the packages and a folder of descriptions, among them RECORD, which lists all files with their
hashes.  The same files give the same archive.
"""
import base64
import hashlib
import pathlib
import re
import sys
import zipfile


def main(folder, license_file, version, wheel):
    folder = pathlib.Path(folder)
    files = {}
    for path in sorted(folder.rglob("*")):
        # A wheel has no links: libwebnn.so.0, which is what programs look for, is stored, and libwebnn.so.0.2.0 is not.
        if path.is_file() and not re.search(r"\.so\.\d+\.", path.name):
            files[str(path.relative_to(folder))] = path.read_bytes()
    tag = "-".join(pathlib.Path(wheel).stem.split("-")[2:])
    info = f"webnn-{version}.dist-info"
    files[f"{info}/LICENSE"] = pathlib.Path(license_file).read_bytes()
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: webnn\nVersion: {version}\nRequires-Python: >=3.11\n"
        "Summary: The Web Neural Network API, compiled to fused native code\n"
        "License: Apache-2.0 WITH LLVM-exception\n").encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: webnn\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    record = ""
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    for other in pathlib.Path(wheel).parent.glob("webnn-*.whl"):  # of another version
        other.unlink()
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = (0o755 if ".so" in name else 0o644) << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)


main(*sys.argv[1:])

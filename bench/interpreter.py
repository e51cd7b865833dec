# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lets a script run under a Python that has the packages it needs, which the first one on the PATH need not have."""
import importlib.util
import os
import subprocess
import sys

CHOSEN = "WEBNN_BENCH_PYTHON"    # set in a process that was started by this module, so that none starts another


def is_missing(packages):
    """Returns which of the packages this Python does not have."""
    return [p for p in packages if importlib.util.find_spec(p) is None]


def candidates(path):
    """Returns every python3 in the folders of a PATH, then the system's, once each."""
    files = [os.path.join(folder, "python3") for folder in [*path.split(os.pathsep), "/usr/bin"] if folder]
    return [f for f in dict.fromkeys(files) if os.access(f, os.X_OK)]


def has_packages(python, packages):
    code = "import " + ", ".join(packages)
    return subprocess.run([python, "-c", code], capture_output=True).returncode == 0


def need(*packages):
    """Returns if this Python has the packages; else it runs the same command line under the first python3 that has them, and
    does not return.  Ends the program with a message if none has."""
    missing = is_missing(packages)
    if not missing:
        return
    if CHOSEN not in os.environ:
        for python in candidates(os.environ.get("PATH", "")):
            if has_packages(python, packages):
                os.execve(python, [python, *sys.argv], {**os.environ, CHOSEN: python})
    sys.exit(f"{sys.argv[0]} needs Python's packages {' and '.join(packages)}; no python3 on the PATH has them all, and "
             f"{sys.executable} lacks {' and '.join(missing)} (Debian: {' '.join('python3-' + p for p in packages)})")

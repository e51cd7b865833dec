# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The page's blocks of Python are a program, and print what its blocks of text say."""
import contextlib
import io
import os
import re
import sys
import tempfile

import support

page = (support.ROOT / "docs/tutorial-python.md").read_text()
programs = re.findall(r"```python\n(.*?)```", page, re.S)
expected = "".join(re.findall(r"```text\n(.*?)```", page, re.S))
printed = io.StringIO()
with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(printed):
    os.chdir(folder)
    os.symlink(support.ROOT / "examples", "examples")  # the program writes where it runs
    exec(compile("\n".join(programs), "tutorial-python.md", "exec"), {"__name__": "__main__"})
    os.chdir("/")
if printed.getvalue() != expected:
    sys.exit(f"the page's program prints\n{printed.getvalue()}\nbut the page says\n{expected}")

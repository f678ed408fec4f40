#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes src/missing.inc: every function of NVIDIA's libcudart that the double does not define.

usage: list_missing.py NVIDIA_LIBCUDART DIRECTORY_OF_THE_DOUBLE'S_OBJECTS > src/missing.inc

Run it when an entry point was added or the toolkit changes. The build needs neither it nor NVIDIA's library."""
import pathlib
import subprocess
import sys


def functions(*arguments):
    text = subprocess.run(["nm", "--defined-only", *arguments], capture_output=True, text=True, check=True).stdout
    lines = (line.split() for line in text.splitlines())
    return {words[2].split("@")[0] for words in lines if len(words) == 3 and words[1] == "T"}


def main():
    wanted = functions("-D", sys.argv[1])
    objects = [str(path) for path in pathlib.Path(sys.argv[2]).rglob("*.o") if not path.name.startswith("missing.")]
    print("// SPDX-License-Identifier: Apache-2.0")
    print("// Written by list_missing.py; the toolkit's version is that of errors.inc.")
    for name in sorted(wanted - functions(*objects)):
        print(f"FAKECUDA_MISSING({name})")


if __name__ == "__main__":
    main()

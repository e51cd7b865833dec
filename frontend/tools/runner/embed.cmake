# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Writes a C file with the bytes of a text file as a NUL-terminated array: cmake -DIN=file -DOUT=file.c -DNAME=array -P
# embed.cmake
file(READ ${IN} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUT} "/* made from ${NAME} by embed.cmake */\nextern const char ${NAME}[];\nconst char ${NAME}[] = {\n${bytes}0};\n")

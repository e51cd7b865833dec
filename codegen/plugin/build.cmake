# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Writes OUT, a header with the build's name: the version, and a checksum of the sources of ir and codegen below ROOT and of what
# else decides about code (SWITCHES).
file(GLOB_RECURSE sources RELATIVE ${ROOT} ${ROOT}/ir/* ${ROOT}/codegen/* ${ROOT}/include/webnn/*)
list(SORT sources)
set(sums "${SWITCHES}")
foreach(source ${sources})
  file(SHA256 ${ROOT}/${source} sum)
  string(APPEND sums " ${source} ${sum}")
endforeach()
string(SHA256 sum "${sums}")
string(SUBSTRING ${sum} 0 16 sum)
file(WRITE ${OUT} "#define WEBNN_BUILD \"${VERSION} ${sum}\"\n")

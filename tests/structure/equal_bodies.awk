# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Prints pairs of functions whose bodies are equal but for names and constants, "FILE:LINE FILE:LINE" each.  Bodies of 8 lines and
# fewer do not count, nor does main.  Relies on clang-format's layout: a function's braces stand in the first column.
#
#   awk -f equal_bodies.awk FILE ...

BEGIN {
    count = split("if else for while do switch case default return break continue goto sizeof const static void", words, " ")
    for (i = 1; i <= count; i++)
        keyword[words[i]]
}

function shape(line,    out, name) { # the line with every name and constant replaced by one letter
    gsub(/"([^"\\]|\\.)*"/, "0", line)
    gsub(/'([^'\\]|\\.)*'/, "0", line)
    gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "", line)
    out = ""
    while (match(line, /[A-Za-z_0-9.]*[A-Za-z_0-9]/)) {
        name = substr(line, RSTART, RLENGTH)
        out = out substr(line, 1, RSTART - 1) (name in keyword ? name : "n")
        line = substr(line, RSTART + RLENGTH)
    }
    out = out line
    gsub(/[ \t]/, "", out)
    return out
}

FNR == 1 { inside = comment = 0 }
{
    if (comment) {
        if (!match($0, /\*\//))
            next
        $0 = substr($0, RSTART + 2)
        comment = 0
    }
    if (match($0, /\/\*([^*]|\*+[^*\/])*$/)) {
        $0 = substr($0, 1, RSTART - 1)
        comment = 1
    }
}
/^\{/ { inside = header !~ /^int main\(/; first = FNR; lines = 0; body = ""; next }
/^\}/ {
    if (inside && lines > 8) {
        place = FILENAME ":" first
        if (body in seen) {
            n = split(seen[body], others, " ")
            for (i = 1; i <= n; i++)
                print others[i], place
        }
        seen[body] = seen[body] " " place
    }
    inside = 0
    next
}
!inside && /^[A-Za-z].*\(/ { header = $0 }
inside && NF { lines++; body = body shape($0) "\n" }

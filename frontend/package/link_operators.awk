# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# awk -f link_operators.awk docs/operators.md include/webnn/webnn_operators.h
# Prints the header with the section of the specification that ends an operator's comment, "(conv2d)", as a link to it.  The
# addresses are those of docs/operators.md, which tests/docs/operators.c writes.  The lines stay as many as they are.

# A row of the page: "| conv2d | ... | [conv2d](https://...) |".
FNR == NR {
    if (match($0, /\[[^][]*\]\(https:[^()]*\) \|$/)) {
        split(substr($0, RSTART + 1, RLENGTH - 3), part, /\]\(|\)/)
        split($0, cell, / *\| */)
        of_operator[tolower(cell[2])] = part[2]
        of_section[part[1]] = part[2]
    }
    next
}

/^\/\*\*/ { held = ""; holding = 1 }
holding {
    held = held $0 "\n"
    if (/\*\/ *$/) { holding = 0; waiting = 1 }
    next
}
waiting {
    if (match($0, /wnnGraphBuilder[A-Za-z0-9]+\(/) && match(held, /\([^()]*\)[ \n]*\*\/ *\n$/)) {
        open = RSTART
        close_at = open + index(substr(held, open), ")") - 1
        section = substr(held, open + 1, close_at - open - 1)
        gsub(/\n \* */, " ", section)
        match($0, /wnnGraphBuilder[A-Za-z0-9]+\(/)
        name = tolower(substr($0, RSTART + 15, RLENGTH - 16))
        url = name in of_operator ? of_operator[name] : of_section[section]
        if (url != "")
            held = substr(held, 1, open) "[" substr(held, open + 1, close_at - open - 1) "](" url ")" substr(held, close_at)
    }
    printf "%s", held
    waiting = 0
}
{ print }

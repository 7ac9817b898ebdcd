# Letters that differ from the genome. -v genome=FILE; input: place, letters; output: place, letter there, letter found, how many reads.
# Called where at least 5 reads lie and 4 of 5 say the same other letter.
BEGIN { while ((getline line < genome) > 0) text = text line }
{
    n = length($2)
    for (i = 1; i <= n; i++) {
        c = substr($2, i, 1); p = $1 + i - 1
        depth[p]++
        if (c != substr(text, p + 1, 1)) count[p, c]++
    }
}
END {
    for (p = 0; p < length(text); p++)
        for (k = 1; depth[p] >= 5 && k <= 4; k++) {
            c = substr("ACGT", k, 1)
            if (count[p, c] >= 0.8 * depth[p]) print p, substr(text, p + 1, 1), c, depth[p]
        }
}

# Reads to their places in a genome. -v genome=FILE; input: number, letters; output: place, letters as on the genome's strand.
# Four words of 16 letters of a read are looked up in an index of the genome; the place with the fewest differences, at most 8, wins.
function reverse(s,   out, i) {
    for (i = length(s); i > 0; i--) out = out substr("TGCA", index("ACGT", substr(s, i, 1)), 1)
    return out
}
function differences(s, from,   n, i) {
    if (substr(text, from + 1, length(s)) == s) return 0
    for (i = 1; i <= length(s) && n <= 8; i++) n += substr(text, from + i, 1) != substr(s, i, 1)
    return n
}
function try(s,   k, word, from, n) {
    for (k = 0; k + 16 <= length(s); k += 20) {
        word = substr(s, k + 1, 16)
        if (!(word in place)) continue
        from = place[word] - k
        if (from < 0 || from + length(s) > length(text)) continue
        n = differences(s, from)
        if (n < best) { best = n; best_from = from; best_read = s }
    }
}
BEGIN {
    while ((getline line < genome) > 0) text = text line
    for (i = 0; i + 16 <= length(text); i++) place[substr(text, i + 1, 16)] = i
}
{
    best = 9
    try($2)
    if (best) try(reverse($2))
    if (best <= 8) print best_from, best_read
}

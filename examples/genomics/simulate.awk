# A genome, an individual that differs from it in a few letters, and its reads with sequencing errors.
# -v letters=N -v reads=N -v genome=FILE -v truth=FILE; the reads go to standard output, a line each: number, letters.
# Lehmer's generator: exact in floating point, the same numbers from every awk.
function next_below(k) { x = (x * 16807) % 2147483647; return x % k }
function letter(i) { return substr("ACGT", i + 1, 1) }
function other(c) { return letter((index("ACGT", c) + next_below(3)) % 4) }
BEGIN {
    x = 20080411; size = 80
    for (i = 0; i < letters; i++) at[i] = letter(next_below(4))
    for (i = 0; i < letters; i += 100) {
        line = ""
        for (k = i; k < i + 100 && k < letters; k++) line = line at[k]
        print line > genome
    }
    for (i = 150; i < letters - 150; i += 200 + next_below(400)) {
        was = at[i]; at[i] = other(was)
        print i, was, at[i] > truth
    }
    for (r = 0; r < reads; r++) {
        from = next_below(letters - size + 1); read = ""
        for (k = 0; k < size; k++) {
            c = at[from + k]
            if (next_below(100) == 0) c = other(c)
            read = read c
        }
        if (next_below(2)) read = reverse(read)
        print r, read
    }
}
function reverse(s,   out, i) {
    for (i = length(s); i > 0; i--) out = out substr("TGCA", index("ACGT", substr(s, i, 1)), 1)
    return out
}

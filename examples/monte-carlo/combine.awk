# Counts of all parts -> estimate, its error from the spread of the parts.
{ n += $2; hits += $3; part[NR] = 4 * $3 / $2 }
END {
    mean = 4 * hits / n
    for (i = 1; i <= NR; i++) sum += (part[i] - mean) ^ 2
    error = sqrt(sum / (NR - 1) / NR)
    printf "points %d\npi %.5f\nerror %.5f\n", n, mean, error
}

# An epidemic among the people of the input. -v infect=CHANCE a contact and day, -v recover=CHANCE a day
# Prints a line a day: day, susceptible, infected, recovered.
function next_unit() { x = (x * 16807) % 2147483647; return x / 2147483647 }
{ n = NR; for (k = 2; k <= NF; k++) meets[NR - 1, k - 1] = $k; degree = NF - 1 }
END {
    x = 99991
    for (p = 0; p < 5; p++) { state[p * int(n / 5)] = 1; infected++ }
    susceptible = n - infected
    for (day = 0; infected > 0 && day < 200; day++) {
        print day, susceptible, infected, n - susceptible - infected
        for (p = 0; p < n; p++) {
            if (state[p] != 1) continue
            for (k = 1; k <= degree; k++) {
                q = meets[p, k]
                if (!state[q] && next_unit() < infect) { caught[q] = 1 }
            }
            if (next_unit() < recover) { state[p] = 2; infected-- }
        }
        for (q in caught) { state[q] = 1; infected++; susceptible-- }
        split("", caught)
    }
    print day, susceptible, infected, n - susceptible - infected
}

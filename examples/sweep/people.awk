# A town: -v n=PEOPLE; a line a person with the ten he meets, neighbours and a few from far away.
function next_below(k) { x = (x * 16807) % 2147483647; return x % k }
BEGIN {
    x = 4711
    for (p = 0; p < n; p++) {
        line = p
        for (k = 1; k <= 4; k++) line = line " " (p + k) % n " " (p - k + n) % n
        print line, next_below(n), next_below(n)
    }
}

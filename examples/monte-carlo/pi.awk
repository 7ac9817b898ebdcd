# Points in the unit square that fall into the quarter circle. -v seed=N -v n=POINTS
# Lehmer's generator: exact in floating point, the same numbers from every awk.
function next_unit() { x = (x * 16807) % 2147483647; return x / 2147483647 }
BEGIN {
    x = seed * 7919 + 1
    for (i = 0; i < 20; i++) next_unit()
    for (i = 0; i < n; i++) {
        a = next_unit(); b = next_unit()
        hits += a * a + b * b < 1
    }
    print seed, n, hits
}

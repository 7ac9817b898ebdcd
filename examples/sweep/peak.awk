# The worst day, how many fell ill in all, and how many days more than `beds` were ill. -v beds=N
{ if ($3 > most) { most = $3; when = $1 } if ($3 > beds) over++; ill = $3 + $4 }
END { printf "ill %d\npeak %d\nday %d\nover %d\n", ill, most, when, over }

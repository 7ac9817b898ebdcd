# What was called against what is true. -v truth=FILE
BEGIN { while ((getline line < truth) > 0) { split(line, f, " "); want[f[1]] = f[3]; total++ } }
{ called++; if (want[$1] == $3) right++ }
END { printf "true %d\ncalled %d\nright %d\nwrong %d\nmissed %d\n", total, called, right, called - right, total - right }

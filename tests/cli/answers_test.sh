#!/usr/bin/env bash
# The library cannot answer differently from the command: plans, checks, comparisons and simulations of the examples, asked of both.
exec python3 tests/cli/answers_check.py "$WEFT" "$WEFT_BUILD/tests/library_answers"

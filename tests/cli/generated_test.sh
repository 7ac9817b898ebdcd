#!/usr/bin/env bash
# What the documentation says about the program, compared with what the program says about itself.
exec python3 tests/cli/generated_check.py . "$WEFT"

#!/bin/sh
# A command with shell syntax, in a container: under the strictest shell that the image has.
#
#     $1 the command
if command -v bash >/dev/null 2>&1; then exec bash -e -o pipefail -c "$1"; fi
# shellcheck disable=SC3040 # that is the question
if (set -o pipefail) 2>/dev/null; then exec sh -e -o pipefail -c "$1"; fi
exec sh -e -c "$1"

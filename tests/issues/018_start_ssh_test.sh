#!/usr/bin/env bash
# A run that is started from the page on agents that ssh starts (a real sshd on loopback). Speaks TAP.
. tests/support/page_start ssh:a,b bash tests/cluster/bed_sshd

#!/bin/sh
# Starts an agent at the other end of an ssh, detached. Sent as one line (shell_one_line), since the user's shell there may be one
# that knows no line breaks in quotes: every command ends with a semicolon, comments stand on lines of their own.
#
#     $1 address to listen at; empty: the one at which ssh reached this machine, which only this end knows
#     $2 the host as it was called, should ssh not say
#     $3 program, $4 folder of the agent; each may begin with ~/
#     $5 the store's URL; empty: this agent starts one
#     then the agent's further arguments. The key comes through standard input.
address=$1; host=$2; program=$3; state=$4; store=$5; shift 5;
if [ -z "$address" ]; then
    address=${SSH_CONNECTION% *}; address=${address##* };
    case $address in *:*) address="[$address]";; "" | UNKNOWN) address=$host;; esac;
fi;
case $program in \~/*) program=$HOME/${program#??};; esac;
case $state in \~/*) state=$HOME/${state#??};; esac;
if [ -n "$store" ]; then set -- "$@" --store "$store"; else set -- "$@" --serve-store "$address:0"; fi;
exec "$program" agent --key - --detach --bind "$address:0" --state "$state" "$@";

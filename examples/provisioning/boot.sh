#!/bin/sh
# "Boots capacity": gets a request as JSON on standard input, and answers on standard output.
#
# This one waits a moment in place of a machine that starts. It is called again while it says
# "provisioned": false, so it may also start something, say so, and look again later. Exit code 0
# and an answer, or another code and the reason on standard error.
set -eu
request=$(cat)
wanted=$(printf '%s' "$request" | grep -o '"count":[0-9]*' | cut -d: -f2 |
  awk '{n += $1} END {print n}')
if [ "$wanted" -gt 8 ]; then
  echo "$wanted pods are more than the pool $POOL can take" >&2
  exit 1
fi
sleep 1
message="$wanted pods may start in the pool $POOL"
printf '{"provisioned":true,"message":"%s","details":{"pool":"%s"}}\n' "$message" "$POOL"

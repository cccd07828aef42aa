# Part of bin/node, when it is the first process of a container: runs $command.

# The first process of a container: forwards signals to the member, and exits with its status, or 0 after a stop (F10).
"${command[@]}" &
member=$!
# Background processes of a script ignore SIGINT.
trap 'kill -TERM "$member" 2>/dev/null || true' TERM INT
trap 'kill -HUP "$member" 2>/dev/null || true' HUP
trap 'kill -QUIT "$member" 2>/dev/null || true' QUIT
status=0
while :; do
  wait "$member" && status=0 || status=$?
  kill -0 "$member" 2>/dev/null || break
done
[ "$status" -ne 143 ] && [ "$status" -ne 130 ] || status=0
exit "$status"

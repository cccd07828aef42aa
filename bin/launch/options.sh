# Part of bin/node. Uses $found and $update (of the JDK), $heap and $cpus. Sets $opts (for every JVM, also of the archive), $trained or $untrained
# (compilers) and $ending (when the heap of a member is used up).

# GCTimeRatio: the young generation grows only while its collections take more than a twentieth of the time. By default it grows until they take
# a hundredth, which costs 70 MiB (decision 0265).
opts=(-XX:+UseParallelGC -XX:GCTimeRatio=19 -XX:-UsePerfData -Xlog:disable -Xlog:all=error:stderr)

# Compilers. With an archive of JDK 25 that records which methods the training compiled: C1 compiles these methods after 256 calls, without
# profiles, and C2 after 32,768 calls, with the profiles of the training. Code that collects profiles is half as fast (decisions 0266, 0269
# and 0270).
trained=(-XX:Tier0InvokeNotifyFreqLog=8 -XX:Tier0BackedgeNotifyFreqLog=11 -XX:Tier2InvokeNotifyFreqLog=15 -XX:Tier2BackedgeNotifyFreqLog=17)
# A method that C1 compiled in the training and C2 did not collects a profile first: after 250 times Tier3InvocationThreshold calls, a factor
# that HotSpot applies to methods of the archive. 130 lets it begin after 32,768 calls, too, in place of 65,536 (decision 0272).
trained+=(-XX:Tier3InvocationThreshold=130 -XX:Tier3MinInvocationThreshold=65 -XX:Tier3CompileThreshold=1300)
# Four times the limits of C2. With the usual limits, methods whose profiles the archive has go from the interpreter to C2, and C2 takes
# the time of C1 while a member starts (decisions 0270 and 0272).
trained+=(-XX:Tier4InvocationThreshold=20000 -XX:Tier4MinInvocationThreshold=2400 -XX:Tier4CompileThreshold=60000)
# Up to four threads of C1 and eight of C2, as the JVM has on 16 processors, each started only while its queue is long. One thread of C1 gets
# too little time beside the many threads of a member that starts under load (decisions 0267 and 0270).
if [ "$cpus" -lt 16 ]; then trained+=(-XX:CICompilerCount=12); fi
# Without such an archive both compilers start later than usual for code that a start runs often (the JDK, the configuration), because on two
# cores their threads take a third of the start. For code that a server runs often they start as usual or a little later: methods of the
# packages below count four times as fast (decision 0142).
untrained=(-XX:Tier3InvocationThreshold=800 -XX:Tier3MinInvocationThreshold=400 -XX:Tier3CompileThreshold=8000)
untrained+=(-XX:Tier4InvocationThreshold=32000 -XX:Tier4MinInvocationThreshold=4000 -XX:Tier4CompileThreshold=100000 -XX:Tier4BackEdgeThreshold=400000)
# Interval of the checks of methods that are not compiled, or only by the first compiler: longer by the same factor.
untrained+=(-XX:Tier0InvokeNotifyFreqLog=9 -XX:Tier0BackedgeNotifyFreqLog=12 -XX:Tier23InlineeNotifyFreqLog=22)
untrained+=(-XX:Tier3InvokeNotifyFreqLog=12 -XX:Tier3BackedgeNotifyFreqLog=15)
untrained+=(-XX:CompileCommand=quiet)
for package in io.troupe org.apache.pekko net.openhft org.rocksdb com.google.protobuf java.util.concurrent; do
  untrained+=("-XX:CompileCommand=CompileThresholdScaling,$package.*::*,0.25")
done
# The C library keeps the memory that threads free, and long reads free a lot in many threads. The JVM returns it to the system (decision 0263).
# Updates of 17 and 21 before these may not know the option.
case "$found" in
  17) trims=$((update >= 15)) ;;
  21) trims=$((update >= 7)) ;;
  *) trims=$((found >= 22)) ;;
esac
if [ "$trims" = 1 ]; then opts+=(-XX:TrimNativeHeapInterval=10000); fi
# Chronicle and its libraries use sun.misc.Unsafe; from JDK 24 on the JVM logs a warning about it.
if [ "$found" -ge 24 ]; then opts+=(--sun-misc-unsafe-memory-access=allow); fi

# The JVM runs this command when an allocation fails. The JVM is stopped meanwhile, so Java code with incomplete work never runs again. The
# signal, which has no other use, terminates it with status 138 (docs/operations.md, Exit codes). If no shell can be started, the JVM exits
# by itself with status 3. The line must not contain a semicolon, which the JVM reads as the end of a command.
line="out of memory, member stops: raise TROUPE_HEAP, or set TROUPE_HEAP_DUMPS to a directory for a heap dump"
if [ "${1:-}" = etcd ] && [[ " $* " != *-log-format[=\ ]console* ]]; then
  line="{\\\"level\\\":\\\"fatal\\\",\\\"ts\\\":\\\"\$(date +%Y-%m-%dT%H:%M:%S.%6N%z)\\\",\\\"caller\\\":\\\"bin/node\\\",\\\"msg\\\":\\\"$line\\\",\\\"exit-code\\\":138,\\\"heap-max\\\":\\\"${heap}k\\\"}"
else
  line="\$(date +%Y-%m-%dT%H:%M:%S.%3N%:z) ERROR bin/node               $line exit-code=138 heap-max=${heap}k"
fi
# In a container the first process ignores such a signal: there this script remains the first process (below).
ending=(-XX:+ExitOnOutOfMemoryError "-XX:OnOutOfMemoryError=echo \"$line\" >&2 || true && kill -USR1 %p && sleep 9")
if [ -n "${TROUPE_HEAP_DUMPS:-}" ]; then
  ending+=(-XX:+HeapDumpOnOutOfMemoryError "-XX:HeapDumpPath=$TROUPE_HEAP_DUMPS")
fi

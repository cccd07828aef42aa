# Part of bin/node. Sets $java (the best JDK), $found and $update (its major version and the third part of its version), and $first and $last:
# the options of the JVM's own variables.

# Prints the version of a java, for example 17.0.15, from its release file if it exists: running java takes longer.
version_of() {
  local home release version=""
  home="$(readlink -f "$1")"
  home="${home%/*/*}"
  release="$home/release"
  if [ -f "$release" ]; then
    while IFS= read -r line; do
      case "$line" in JAVA_VERSION=*) version="${line#JAVA_VERSION=}"; version="${version//\"/}" ;; esac
    done < "$release"
  fi
  [ -n "$version" ] || version="$("$1" -version 2>&1 | head -1 | sed 's/.*"\(.*\)".*/\1/')"
  echo "${version%%[-+_]*}"
}

java=""
if [ -n "${JAVA_HOME:-}" ]; then
  java="$JAVA_HOME/bin/java"
  [ -x "$java" ] || { why="JAVA_HOME = $JAVA_HOME has no bin/java"; refuse "$@"; }
  version="$(version_of "$java")"
else
  version=0
  rank=0
  for candidate in /usr/lib/jvm/*/bin/java /opt/java/*/bin/java "${HOME:-}"/.sdkman/candidates/java/*/bin/java "$(command -v java || true)"; do
    [ -x "$candidate" ] || continue
    other="$(version_of "$candidate")"
    case "${other%%.*}" in
      25) r=4 ;;
      21) r=3 ;;
      17) r=2 ;;
      *) if [ "${other%%.*}" -ge 17 ] 2>/dev/null; then r=1; else r=0; fi ;;
    esac
    if [ "$r" -gt "$rank" ]; then java="$candidate"; version="$other"; rank="$r"; fi
  done
  [ -n "$java" ] || { why="no JDK 17 or newer found; on Debian and Ubuntu: apt-get install openjdk-17-jre-headless"; refuse "$@"; }
fi
IFS=. read -r found _ update _ <<< "$version"
update="${update:-0}"
[ "$found" -ge 17 ] 2>/dev/null || { why="$java is version $found: Troupe needs 17 or newer"; refuse "$@"; }

# Splits as the JVM does: at white space outside of single and double quotes.
split() {
  words=()
  local word="" begun="" quote="" at c
  for ((at = 0; at < ${#1}; at++)); do
    c="${1:at:1}"
    if [ "$c" = "$quote" ]; then
      quote=""
    elif [ -n "$quote" ]; then
      word+="$c"
    elif [[ "$c" = [[:space:]] ]]; then
      [ -z "$begun" ] || words+=("$word")
      word="" begun=""
    else
      begun=1
      case "$c" in \' | \") quote="$c" ;; *) word+="$c" ;; esac
    fi
  done
  [ -z "$begun" ] || words+=("$word")
}

# Passed as arguments, in the order of the JVM: for the variables the JVM would print a notice to standard error, which is not a log line.
split "${JAVA_TOOL_OPTIONS:-}"
first=("${words[@]}")
split "${JDK_JAVA_OPTIONS:-}"
first+=("${words[@]}")
split "${_JAVA_OPTIONS:-}"
last=("${words[@]}")
unset JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS

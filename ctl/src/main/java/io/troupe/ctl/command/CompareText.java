package io.troupe.ctl.command;

import com.google.protobuf.ByteString;
import io.troupe.ctl.text.Integers;
import io.troupe.ctl.text.Quoted;
import io.troupe.grpc.api.Compare;
import io.troupe.grpc.api.Compare.CompareResult;
import io.troupe.grpc.api.Compare.CompareTarget;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A compare of a transaction as text: {@code mod("key") > "0"}. */
final class CompareText {
  private static final String QUOTED = "(\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`)";
  private static final Pattern CONDITION =
      Pattern.compile("\\s*" + QUOTED + "\\)\\s*(\\S+)\\s+" + QUOTED + ".*");

  private CompareText() {}

  /**
   * @throws IllegalArgumentException with etcdctl's text
   */
  static Compare parse(String line) {
    int parenthesis = line.indexOf('(');
    if (parenthesis < 0) {
      throw new IllegalArgumentException("malformed comparison: " + line);
    }
    String target = line.substring(0, parenthesis);
    Matcher condition = CONDITION.matcher(line.substring(parenthesis + 1));
    if (!condition.matches()) {
      throw new IllegalArgumentException(
          "malformed comparison: " + line + "; got " + target + "(\"\")  \"\"");
    }
    ByteString key = Quoted.unquote(condition.group(1));
    ByteString value = Quoted.unquote(condition.group(3));
    Compare.Builder compare = Compare.newBuilder().setKey(key);
    number(compare, target, value, line);
    return compare.setResult(result(condition.group(2), line)).build();
  }

  private static CompareResult result(String operator, String line) {
    return switch (operator) {
      case "=" -> CompareResult.EQUAL;
      case "!=" -> CompareResult.NOT_EQUAL;
      case ">" -> CompareResult.GREATER;
      case "<" -> CompareResult.LESS;
      default ->
          throw new IllegalArgumentException(
              "malformed comparison: " + line + " (unknown operator " + operator + ")");
    };
  }

  private static void number(
      Compare.Builder compare, String target, ByteString value, String line) {
    try {
      switch (target) {
        case "ver", "version" ->
            compare
                .setTarget(CompareTarget.VERSION)
                .setVersion(Integers.parse(value.toStringUtf8(), 10));
        case "c", "create" ->
            compare
                .setTarget(CompareTarget.CREATE)
                .setCreateRevision(Integers.parse(value.toStringUtf8(), 10));
        case "m", "mod" ->
            compare
                .setTarget(CompareTarget.MOD)
                .setModRevision(Integers.parse(value.toStringUtf8(), 10));
        case "val", "value" -> compare.setTarget(CompareTarget.VALUE).setValue(value);
        // etcdctl 3.7.1 fails here; the ID is in hexadecimal as in all other commands.
        case "lease" ->
            compare
                .setTarget(CompareTarget.LEASE)
                .setLease(Integers.parse(value.toStringUtf8(), 16));
        default ->
            throw new UnknownTarget(
                "malformed comparison: " + line + " (unknown target " + target + ")");
      }
    } catch (UnknownTarget e) {
      throw e;
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("invalid txn compare request: " + line, e);
    }
  }

  private static final class UnknownTarget extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    UnknownTarget(String message) {
      super(message);
    }
  }
}

package io.troupe.node.logging;

import ch.qos.logback.classic.pattern.MessageConverter;
import ch.qos.logback.classic.spi.ILoggingEvent;
import io.troupe.model.GoDuration;
import io.troupe.model.NodeId;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The message of a text line. Durations are written as in etcd ({@code 3.2s}), and the id of a
 * member in {@code key=id} is followed by its name and URL.
 */
final class TextMessage extends MessageConverter {
  private static final String PLACEHOLDER = "{}";
  private static final Pattern KEY = Pattern.compile("([A-Za-z][\\w.-]*)=$");

  @Override
  public String convert(ILoggingEvent event) {
    Object[] arguments = event.getArgumentArray();
    return arguments == null || !isSpecial(arguments)
        ? event.getFormattedMessage()
        : text(event.getMessage(), arguments);
  }

  private static boolean isSpecial(Object[] arguments) {
    for (Object argument : arguments) {
      if (argument instanceof Duration || argument instanceof NodeId) {
        return true;
      }
    }
    return false;
  }

  static String text(String format, Object[] arguments) {
    StringBuilder out = new StringBuilder();
    int from = 0;
    for (Object argument : arguments) {
      int at = format.indexOf(PLACEHOLDER, from);
      if (at < 0) {
        break;
      }
      out.append(format, from, at);
      append(out, argument);
      from = at + PLACEHOLDER.length();
    }
    return out.append(format.substring(from)).toString();
  }

  private static void append(StringBuilder out, Object argument) {
    MemberNames.Member member = MemberNames.of(argument);
    Matcher key = KEY.matcher(out);
    if (argument instanceof Duration duration) {
      out.append(GoDuration.text(duration));
    } else if (member != null && key.find()) {
      String prefix = MemberNames.prefix(key.group(1));
      out.append(argument);
      out.append(' ').append(prefix).append("-name=").append(member.name());
      out.append(' ').append(prefix).append("-url=").append(member.url());
    } else {
      out.append(argument);
    }
  }
}

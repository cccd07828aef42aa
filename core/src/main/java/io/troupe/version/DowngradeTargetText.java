package io.troupe.version;

import io.troupe.model.EtcdVersion;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Semantic versioning as etcd reads it in a request: more tolerant than {@link EtcdVersion}. */
final class DowngradeTargetText {
  private static final Pattern FORM =
      Pattern.compile("([0-9]+)\\.([0-9]+)\\.([0-9]+)(?:-[0-9A-Za-z.-]*)?(?:\\+[0-9A-Za-z.-]*)?");

  private DowngradeTargetText() {}

  /** The numbers, or null if the text has another form or a number is too large. */
  static @Nullable EtcdVersion parse(String text) {
    Matcher parts = FORM.matcher(text);
    if (!parts.matches()) {
      return null;
    }
    try {
      return new EtcdVersion(
          Long.parseLong(parts.group(1)),
          Long.parseLong(parts.group(2)),
          Long.parseLong(parts.group(3)));
    } catch (NumberFormatException tooLarge) {
      return null;
    }
  }
}

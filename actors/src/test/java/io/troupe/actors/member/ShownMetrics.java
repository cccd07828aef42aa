package io.troupe.actors.member;

import io.troupe.metrics.MemberMetrics;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** A member's metrics as they are exported, by the text of each sample. */
public final class ShownMetrics {
  private ShownMetrics() {}

  /** All lines. */
  public static List<String> of(MemberMetrics metrics) {
    return new String(metrics.text(), StandardCharsets.UTF_8).lines().toList();
  }

  /**
   * The value of one sample.
   *
   * @param sample name and labels as they are shown
   */
  public static double value(MemberMetrics metrics, String sample) {
    return of(metrics).stream()
        .filter(line -> line.startsWith(sample + " "))
        .map(line -> Double.valueOf(line.substring(sample.length() + 1)))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no " + sample));
  }
}

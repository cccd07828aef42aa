package io.troupe.metrics;

/** Values of one family, read when metrics are requested. */
@FunctionalInterface
public interface LabelledValues {
  /** Receives the values. */
  @FunctionalInterface
  interface Target {
    /**
     * Receives one value.
     *
     * @param labels as many as the family has, in its order
     */
    void value(double value, String... labels);
  }

  /** Passes all values to {@code target}, each combination of labels once. */
  void tell(Target target);
}

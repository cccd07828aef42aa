package io.troupe.metrics;

/** Values of one family, told when metrics are read. */
@FunctionalInterface
public interface LabelledValues {
  /** Takes the values. */
  @FunctionalInterface
  interface Target {
    /**
     * One value.
     *
     * @param labels as many as the family has, in its order
     */
    void value(double value, String... labels);
  }

  /** Tells all values, each combination of labels once. */
  void tell(Target target);
}

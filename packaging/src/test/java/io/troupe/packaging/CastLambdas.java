package io.troupe.packaging;

import java.io.Serializable;
import java.util.function.Supplier;

/** A class that {@link PlainLambdasTest} does not rewrite. */
final class CastLambdas {
  private CastLambdas() {}

  static Supplier<String> cast() {
    return (Supplier<String> & Serializable) () -> "cast";
  }
}

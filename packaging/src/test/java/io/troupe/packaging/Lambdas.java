package io.troupe.packaging;

import java.io.Serializable;
import java.util.function.Function;
import java.util.function.Supplier;

/** Lambdas that {@link PlainLambdasTest} rewrites; it calls the methods through reflection. */
final class Lambdas {
  private Lambdas() {}

  /** Like Pekko's Java API: javac makes its lambdas serializable. */
  interface SerializableFunction<A, B> extends Function<A, B>, Serializable {}

  interface OfNumbers<T extends Number> {
    String show(T number);
  }

  interface OfAll<T> {
    String show(T object);
  }

  /** Two methods of a class file: {@code show(Number)}, and a bridge for {@code show(Object)}. */
  interface OfBoth extends OfNumbers<Integer>, OfAll<Integer> {}

  static Function<String, Integer> length(int more) {
    SerializableFunction<String, Integer> length = text -> text.length() + more;
    return length;
  }

  static String throughBoth(Integer number) {
    OfBoth both = shown -> "number " + shown;
    OfNumbers<Integer> first = both;
    OfAll<Integer> second = both;
    return first.show(number) + ", " + second.show(number);
  }

  static Supplier<String> plain() {
    return () -> "plain";
  }
}

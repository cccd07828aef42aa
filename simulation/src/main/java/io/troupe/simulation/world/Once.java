package io.troupe.simulation.world;

import java.util.function.Consumer;

/** Passes on the first value alone: a reply or its timeout. */
final class Once<T> implements Consumer<T> {
  private final Consumer<T> to;
  private boolean done;

  Once(Consumer<T> to) {
    this.to = to;
  }

  @Override
  public void accept(T value) {
    if (!done) {
      done = true;
      to.accept(value);
    }
  }
}

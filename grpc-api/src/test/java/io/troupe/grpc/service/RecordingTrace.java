package io.troupe.grpc.service;

import io.troupe.model.TraceContext;
import java.util.ArrayList;
import java.util.List;

/** A trace that keeps what it is told. */
public final class RecordingTrace implements CallTrace {
  /** Where it stands. */
  public static final TraceContext CONTEXT = new TraceContext(1, 2, 3, 1);

  private final List<Step> steps = new ArrayList<>();
  private final List<Integer> ends = new ArrayList<>();

  /** A step. */
  public record Step(String name, long startNanos, long endNanos) {}

  @Override
  public boolean isRecorded() {
    return true;
  }

  @Override
  public TraceContext context() {
    return CONTEXT;
  }

  @Override
  public synchronized void step(String name, long startNanos, long endNanos) {
    steps.add(new Step(name, startNanos, endNanos));
  }

  @Override
  public synchronized void ended(int code) {
    ends.add(code);
  }

  /** In the order in which they were told. */
  public synchronized List<Step> steps() {
    return List.copyOf(steps);
  }

  /** Codes of its ends, of which there should be one at most. */
  public synchronized List<Integer> ends() {
    return List.copyOf(ends);
  }
}

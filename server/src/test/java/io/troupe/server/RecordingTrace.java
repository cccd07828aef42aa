package io.troupe.server;

import io.troupe.model.TraceContext;
import java.util.ArrayList;
import java.util.List;

/** A trace that keeps its steps. */
public final class RecordingTrace implements CallTrace {
  /** The context of the call. */
  public static final TraceContext CONTEXT = new TraceContext(1, 2, 3, 1);

  private final List<Step> steps = new ArrayList<>();
  private final List<Integer> ends = new ArrayList<>();

  /** A recorded step. */
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

  /** The steps, in the order of recording. */
  public synchronized List<Step> steps() {
    return List.copyOf(steps);
  }

  /** Status codes of the end of the call, at most one. */
  public synchronized List<Integer> ends() {
    return List.copyOf(ends);
  }
}

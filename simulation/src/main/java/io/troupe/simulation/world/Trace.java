package io.troupe.simulation.world;

import io.troupe.model.NodeId;
import io.troupe.raft.PeerMessage;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The last events, for debugging, and a hash of all events. */
public final class Trace {
  private static final int KEPT = 400;

  private record Line(long atUs, @Nullable NodeId member, String what, Object detail) {
    @Override
    public String toString() {
      return atUs / 1000
          + "."
          + String.format("%03d", atUs % 1000)
          + " ms "
          + (member == null ? "-" : member)
          + " "
          + what
          + " "
          + detail;
    }
  }

  private final Scheduler scheduler;
  private final boolean hashing;
  private final ArrayDeque<Line> lines = new ArrayDeque<>();
  private long hash = 1;

  /** Starts empty. With {@code hashing} the texts of all events enter the hash. */
  Trace(Scheduler scheduler, boolean hashing) {
    this.scheduler = scheduler;
    this.hashing = hashing;
  }

  /** Records an event. {@code detail} is immutable and has the same text in every run. */
  public void note(@Nullable NodeId member, String what, Object detail) {
    Line line = new Line(scheduler.nowUs(), member, what, detail);
    if (lines.size() == KEPT) {
      lines.removeFirst();
    }
    lines.addLast(line);
    if (hashing) {
      hash = 31 * hash + line.toString().hashCode();
    }
  }

  /** Records the arrival of a message, if it is one of the more interesting ones. */
  void received(NodeId member, NodeId from, PeerMessage message) {
    if (message instanceof PeerMessage.Append append) {
      note(member, "receives from " + from, brief(append));
    } else if (message instanceof PeerMessage.RequestVote
        || message instanceof PeerMessage.InstallSnapshot) {
      note(member, "receives from " + from, message.toString());
    }
  }

  private static String brief(PeerMessage.Append append) {
    return "Append t"
        + append.term()
        + " prev="
        + append.prevIndex()
        + "@"
        + append.prevTerm()
        + " +"
        + append.entries().size()
        + " commit="
        + append.commit();
  }

  /** Equal for two runs with the same events. */
  public long hash() {
    return hash;
  }

  /** The last lines, oldest first. */
  public List<String> last(int count) {
    List<String> texts = new ArrayList<>();
    int skip = lines.size() - count;
    for (Line line : lines) {
      if (skip-- <= 0) {
        texts.add(line.toString());
      }
    }
    return texts;
  }
}

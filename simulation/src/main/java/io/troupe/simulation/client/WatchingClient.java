package io.troupe.simulation.client;

import io.troupe.model.KeyRange;
import io.troupe.simulation.history.WatchRecord;
import io.troupe.simulation.history.WatchReply;
import io.troupe.simulation.world.SimMember;
import io.troupe.simulation.world.SimWorld;
import io.troupe.simulation.world.WatchSink;
import io.troupe.simulation.world.WatchStream;
import io.troupe.watch.EventFilter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a stream with several watchers at a random member. When the stream breaks, or at random, it
 * opens one at another member and resumes each watcher after its last reply. Opens further watchers
 * from 100 revisions back to 100 ahead, and sometimes reads slowly.
 */
public final class WatchingClient {
  private static final int MOST_WATCHERS = 6;

  private final SimWorld world;
  private final SplittableRandom random;
  private final Requests requests;
  private final boolean permanent;
  private @Nullable Stream stream;
  private boolean stopped;

  /**
   * Creates a client. A permanent one has one watcher on all keys that is never dropped, and never
   * reads slowly.
   */
  public WatchingClient(SimWorld world, SplittableRandom random, boolean permanent) {
    this.world = world;
    this.random = random;
    this.requests = new Requests(random.split(), "w");
    this.permanent = permanent;
  }

  /** Starts. */
  public void start() {
    List<WatchRecord.Asked> first = new ArrayList<>();
    if (permanent) {
      first.add(
          new WatchRecord.Asked(
              KeyRange.all(), 1, EventFilter.NONE, true, random.nextBoolean(), true));
    } else {
      first.add(draw(1));
    }
    connect(first);
    act();
  }

  /** Opens no further watcher, reads as fast as it can, and reconnects only to current members. */
  public void settle() {
    stopped = true;
    Stream current = stream;
    if (current != null && current.isOpen()) {
      // The process may no longer be a member.
      current.leave();
    }
  }

  /** Watchers that are open now. */
  public List<WatchRecord> open() {
    Stream current = stream;
    return current == null
        ? List.of()
        : current.watchers.values().stream().filter(each -> !each.isCanceled()).toList();
  }

  private WatchRecord.Asked draw(long now) {
    int dice = random.nextInt(5);
    long start = dice == 0 ? 0 : Math.max(1, now - 100 + random.nextInt(dice == 1 ? 200 : 110));
    return new WatchRecord.Asked(
        requests.anyRange(),
        start,
        new EventFilter(random.nextInt(6) == 0, random.nextInt(6) == 0),
        random.nextBoolean(),
        random.nextInt(3) == 0,
        random.nextBoolean());
  }

  private void connect(List<WatchRecord.Asked> wanted) {
    List<SimMember> up =
        world.members().stream()
            .filter(SimMember::isUp)
            .filter(member -> !stopped || world.membership().contains(member.id()))
            .toList();
    if (up.isEmpty()) {
      world.scheduler().after(200_000, () -> connect(wanted));
      return;
    }
    Stream next = new Stream();
    WatchStream opened = up.get(random.nextInt(up.size())).openWatch(next);
    if (opened == null) {
      world.scheduler().after(200_000, () -> connect(wanted));
      return;
    }
    next.stream = opened;
    stream = next;
    wanted.forEach(next::create);
  }

  private void act() {
    world
        .scheduler()
        .after(
            50_000 + random.nextLong(600_000),
            () -> {
              if (!stopped) {
                Stream current = stream;
                if (current != null && current.isOpen()) {
                  actOn(current);
                }
                act();
              }
            });
  }

  private void actOn(Stream current) {
    int dice = random.nextInt(10);
    if (dice < 3) {
      current.progress();
    } else if (dice < 7 && !permanent && current.watchers.size() < MOST_WATCHERS) {
      world.coverage().count("watchers opened");
      current.create(draw(newest()));
    } else if (dice == 9) {
      current.leave();
    }
  }

  private long newest() {
    long newest = 1;
    for (SimMember member : world.members()) {
      newest = Math.max(newest, member.revision());
    }
    return newest;
  }

  private final class Stream implements WatchSink {
    private final Map<Long, WatchRecord> watchers = new LinkedHashMap<>();

    /** Watchers that were refused, and are requested again. */
    private final List<WatchRecord.Asked> refused = new ArrayList<>();

    private @Nullable WatchStream stream;
    private long ids;

    boolean isOpen() {
      return stream != null;
    }

    void create(WatchRecord.Asked asked) {
      WatchStream open = stream;
      if (open == null) {
        return;
      }
      WatchRecord record = new WatchRecord(asked);
      world.history().add(record);
      watchers.put(++ids, record);
      open.create(ids, asked);
    }

    void progress() {
      WatchStream open = stream;
      if (open != null) {
        open.requestProgress();
      }
    }

    void leave() {
      WatchStream open = stream;
      if (open != null) {
        open.close();
        broken();
      }
    }

    @Override
    public void replies(List<WatchReply> replies) {
      WatchStream open = stream;
      if (open == null) {
        return;
      }
      for (WatchReply reply : replies) {
        if (reply instanceof WatchReply.Refused) {
          refuse();
        } else if (reply instanceof WatchReply.Progress && reply.watchId() == -1) {
          // Applies to all watchers except one whose creation it overtook (W16).
          watchers.values().stream()
              .filter(each -> !each.replies().isEmpty())
              .forEach(each -> each.add(reply));
          world.coverage().count("progress of whole streams");
        } else {
          WatchRecord record = watchers.get(reply.watchId());
          if (record == null) {
            throw new IllegalStateException("a reply for an unknown watcher: " + reply);
          }
          record.add(reply);
        }
      }
      boolean slow = !permanent && !stopped && random.nextInt(6) == 0;
      world.scheduler().after(slow ? random.nextLong(3_000_000) : 100, open::next);
    }

    /** The replies to the creates of a stream have the order of the creates. */
    private void refuse() {
      for (Map.Entry<Long, WatchRecord> each : watchers.entrySet()) {
        if (each.getValue().replies().isEmpty()) {
          watchers.remove(each.getKey());
          refused.add(each.getValue().asked());
          world.scheduler().after(50_000 + random.nextLong(200_000), this::createAgain);
          return;
        }
      }
      throw new IllegalStateException("a watcher was refused that was not requested");
    }

    private void createAgain() {
      List<WatchRecord.Asked> again = List.copyOf(refused);
      if (isOpen()) {
        refused.clear();
        again.forEach(this::create);
      }
    }

    @Override
    public void broken() {
      if (stream == null) {
        return;
      }
      stream = null;
      List<WatchRecord.Asked> again = new ArrayList<>(refused);
      for (WatchRecord record : watchers.values()) {
        WatchRecord.Asked asked = record.asked();
        boolean dropped = !permanent && !stopped && random.nextInt(3) == 0;
        if (!record.isCanceled() && !dropped) {
          world.coverage().count("watchers resumed");
          again.add(resumed(asked, record.nextRevision()));
        } else if (record.isCanceled() && permanent) {
          again.add(resumed(asked, 0));
        }
      }
      if (again.isEmpty()) {
        again.add(draw(newest()));
      }
      world.scheduler().after(random.nextLong(300_000), () -> connect(again));
    }

    private WatchRecord.Asked resumed(WatchRecord.Asked asked, long from) {
      return new WatchRecord.Asked(
          asked.range(),
          from,
          asked.filter(),
          asked.prevKv(),
          asked.fragment(),
          asked.progressNotify());
    }
  }
}

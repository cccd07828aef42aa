package io.troupe.actors.peers;

import io.troupe.actors.peers.FrameRules.Verdict;
import io.troupe.metrics.RateLimitedLogger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.Done;
import org.apache.pekko.stream.Attributes;
import org.apache.pekko.stream.FlowShape;
import org.apache.pekko.stream.Inlet;
import org.apache.pekko.stream.Outlet;
import org.apache.pekko.stream.stage.AbstractInHandler;
import org.apache.pekko.stream.stage.AbstractOutHandler;
import org.apache.pekko.stream.stage.AsyncCallback;
import org.apache.pekko.stream.stage.GraphStage;
import org.apache.pekko.stream.stage.GraphStageLogic;
import org.apache.pekko.stream.stage.TimerGraphStageLogic;
import org.apache.pekko.util.ByteString;

/**
 * Filters the frames of each connection that a peer opens to this member, after TLS if there is any
 * and before Artery. Passes complete frames that another member may send, and closes the connection
 * at the first frame that no member sends. Artery's own reader of frames accepts any length and
 * never terminates with a negative one.
 */
final class PeerFrameFilter extends GraphStage<FlowShape<ByteString, ByteString>> {
  /** For the handshake of TLS and the first frame, which Artery sends when it connects (TL4). */
  static final Duration FIRST_FRAME = Duration.ofSeconds(10);

  private static final int PREFACE_BYTES = 5;
  private static final int LENGTH_BYTES = 4;

  /** "AKKA", as Artery sends it first. */
  private static final int MAGIC = 0x414b4b41;

  /** First bytes of TLS. */
  private static final int TLS_MAGIC = 0x160300;

  private static final String TOO_LATE = "first-frame";

  private final Inlet<ByteString> in = Inlet.create("PeerFrameFilter.in");
  private final Outlet<ByteString> out = Outlet.create("PeerFrameFilter.out");
  private final FlowShape<ByteString, ByteString> shape = FlowShape.of(in, out);
  private final FrameRules rules;
  private final PeerConnections connections;
  private final PeerMemory.Part memory;
  private final RateLimitedLogger log;
  private final int maxFrameBytes;
  private final PeerCertificate certificate;
  private final CompletionStage<Void> admitted;
  private final Runnable memberSpoke;

  /**
   * A gate for one connection.
   *
   * @param memory for frames that are not complete, of all connections
   * @param certificate the members that the other side may act for; used once it is admitted
   * @param admitted nothing is checked before it is done; if it fails the connection ends
   * @param memberSpoke run when the first frame is let through
   */
  PeerFrameFilter(
      FrameRules rules,
      PeerConnections connections,
      PeerMemory.Part memory,
      RateLimitedLogger log,
      int maxFrameBytes,
      PeerCertificate certificate,
      CompletionStage<Void> admitted,
      Runnable memberSpoke) {
    this.rules = rules;
    this.connections = connections;
    this.memory = memory;
    this.log = log;
    this.maxFrameBytes = maxFrameBytes;
    this.certificate = certificate;
    this.admitted = admitted;
    this.memberSpoke = memberSpoke;
  }

  @Override
  public FlowShape<ByteString, ByteString> shape() {
    return shape;
  }

  @Override
  public GraphStageLogic createLogic(Attributes attributes) {
    return new Logic();
  }

  private final class Logic extends TimerGraphStageLogic implements PeerConnections.Connection {
    private final FrameRules.Origin origin = new FrameRules.Origin(certificate);
    private final AsyncCallback<Done> end = createAsyncCallback(done -> completeStage());
    private final AsyncCallback<Done> enter = createAsyncCallback(done -> entered());
    private ByteString held = ByteString.emptyByteString();
    private volatile int heldBytes;
    private boolean released;

    /** With fewer bytes the filter cannot decide. */
    private int needed = PREFACE_BYTES;

    private int stream;
    private boolean entered;
    private boolean opened;
    private boolean spoke;
    private volatile long heardNanos = System.nanoTime();

    Logic() {
      super(shape);
      setHandler(
          in,
          new AbstractInHandler() {
            @Override
            public void onPush() {
              if (entered) {
                take(grab(in));
              }
            }

            @Override
            public void onUpstreamFinish() {
              if (entered || !isAvailable(in)) {
                completeStage();
              }
            }

            @Override
            public void onUpstreamFailure(Throwable broken) {
              // A connection that breaks is nothing special; TLS has its own lines.
              completeStage();
            }
          });
      setHandler(
          out,
          new AbstractOutHandler() {
            @Override
            public void onPull() {
              pull(in);
            }
          });
    }

    @Override
    public void preStart() {
      connections.enter(this);
      scheduleOnce(TOO_LATE, FIRST_FRAME);
      admitted.whenComplete(
          (done, refused) -> (refused == null ? enter : end).invoke(Done.getInstance()));
    }

    /** The first bytes may be there already. */
    private void entered() {
      entered = true;
      if (isAvailable(in)) {
        take(grab(in));
        if (isClosed(in)) {
          completeStage();
        }
      }
    }

    @Override
    public void postStop() {
      count(0);
      connections.leave(this);
    }

    @Override
    public void onTimer(Object key) {
      log.warn("connection to the peer port ended: nothing came of it for 10 s", "");
      completeStage();
    }

    private void count(int bytes) {
      if (bytes != heldBytes) {
        change(bytes);
      }
    }

    private synchronized void change(int bytes) {
      int counted = released ? 0 : bytes;
      memory.change(counted - heldBytes);
      heldBytes = counted;
    }

    @Override
    public synchronized void release() {
      change(0);
      released = true;
    }

    @Override
    public int heldBytes() {
      return heldBytes;
    }

    @Override
    public long heardNanos() {
      return heardNanos;
    }

    @Override
    public void end() {
      end.invoke(Done.getInstance());
    }

    private void take(ByteString chunk) {
      heardNanos = System.nanoTime();
      boolean alone = held.isEmpty();
      held = alone ? chunk : held.concat(chunk);
      if (held.length() < needed) {
        keep();
        more();
        return;
      }
      if (!alone) {
        held = held.compact();
      }
      ByteBuffer bytes = held.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
      ByteString passed = ByteString.emptyByteString();
      int at = 0;
      if (!opened) {
        if (!opens(bytes)) {
          completeStage();
          return;
        }
        at = PREFACE_BYTES;
        passed = held.slice(0, at);
      }
      int kept = at;
      while (bytes.limit() - at >= LENGTH_BYTES) {
        int length = bytes.getInt(at);
        if (length < FrameRules.MIN_BYTES || length > maxFrameBytes) {
          refused("a frame of " + length + " bytes");
          return;
        }
        int next = at + LENGTH_BYTES + length;
        if (next > bytes.limit()) {
          break;
        }
        ByteBuffer frame = bytes.slice(at + LENGTH_BYTES, length).order(ByteOrder.LITTLE_ENDIAN);
        Verdict verdict = rules.check(stream, frame, origin);
        if (verdict == Verdict.END) {
          refused("a frame that no member sends");
          return;
        }
        if (verdict == Verdict.DROP) {
          passed = passed.concat(held.slice(kept, at));
          kept = next;
        } else if (!spoke) {
          spoke = true;
          cancelTimer(TOO_LATE);
          memberSpoke.run();
        }
        at = next;
      }
      passed = passed.concat(held.slice(kept, at));
      needed = bytes.limit() - at < LENGTH_BYTES ? LENGTH_BYTES : LENGTH_BYTES + bytes.getInt(at);
      held = held.drop(at);
      keep();
      if (passed.isEmpty()) {
        more();
      } else {
        push(out, passed);
      }
    }

    /**
     * Counts the incomplete bytes. If all connections have too many, the connection that was idle
     * longest is closed.
     */
    private void keep() {
      count(held.length());
      if (heldBytes > 0 && memory.isExceeded()) {
        memory.refused();
        connections.endMostSilentWithBytes();
      }
    }

    /** It may have ended before it was admitted. */
    private void more() {
      if (!isClosed(in)) {
        pull(in);
      }
    }

    private boolean opens(ByteBuffer bytes) {
      int first = Integer.reverseBytes(bytes.getInt(0));
      stream = bytes.get(4);
      opened = first == MAGIC && FrameRules.isStream(stream);
      if ((first >>> 8 & 0xffff00) == TLS_MAGIC) {
        log.warn(
            "rejected TLS connection on plaintext peer port;",
            "use https in all peer URLs or in none");
      } else if (!opened) {
        log.warn("connection to the peer port ended: it is no member's", "");
      }
      return opened;
    }

    private void refused(String reason) {
      log.warn("connection to the peer port ended:", "reason=\"" + reason + '"');
      completeStage();
    }
  }
}

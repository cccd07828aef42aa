package io.troupe.edge.frames;

import io.troupe.model.MemoryBudget;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Checks the HTTP/2 frames of one connection against limits that the HTTP layer does not support.
 * Used by one thread, except for {@link #isOpen}, {@link #hasOpen} and {@link #holds}.
 *
 * <ul>
 *   <li>pings ({@link KeepAliveEnforcer}) and windows ({@link FlowControlChecks});
 *   <li>header blocks of many frames, including empty ones;
 *   <li>frames above the agreed size, and SETTINGS frames that are not acknowledged yet;
 *   <li>streams that the client resets (CVE-2023-44487) or makes the server reset (CVE-2025-8671);
 *   <li>memory that the HTTP layer holds for open streams ({@link OpenStreams}).
 * </ul>
 *
 * @source RFC 9113 sections 4.2, 6.9.1, 6.10, 10.5
 */
public final class Http2FrameLimits {
  private static final byte[] PREFACE =
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

  private static final int DATA = 0;
  private static final int HEADERS = 1;
  private static final int RST_STREAM = 3;
  private static final int SETTINGS = 4;
  private static final int PING = 6;
  private static final int GOAWAY = 7;
  private static final int WINDOW_UPDATE = 8;
  private static final int CONTINUATION = 9;
  private static final int END_STREAM = 1;
  private static final int ACK = 1;
  private static final int END_HEADERS = 4;

  /** Maximum frame size until the receiver allows larger frames; this server never does. */
  private static final int MAX_FRAME_BYTES = 16_384;

  /**
   * Bytes that each frame of a header block counts besides its content, so that empty frames count
   * too.
   */
  private static final int FRAME_HEADER_BYTES = 9;

  /**
   * Maximum size of a header block with its frame headers. Clients receive it as
   * SETTINGS_MAX_HEADER_LIST_SIZE. Tokens have some hundred bytes; Go's default is 16 MiB.
   */
  public static final int MAX_HEADER_BLOCK_BYTES = 64 << 10;

  /** HTTP/2 and its extensions define about ten settings of six bytes. */
  private static final int MAX_SETTINGS_BYTES = 1024;

  /** Clients send one SETTINGS frame, and a later one if their windows change. */
  private static final int MAX_UNACKNOWLEDGED_SETTINGS = 100;

  /** Reason for closing a connection. */
  public enum Breach {
    /** T4. */
    PINGS(0xb, "too_many_pings", "pings too often"),
    /** FLOW_CONTROL_ERROR. */
    WINDOW(3, "window too wide", "raised its window above the protocol limit"),
    /** PROTOCOL_ERROR. */
    NO_INCREMENT(1, "WINDOW_UPDATE by nothing", "sent a WINDOW_UPDATE with increment 0"),
    /** FRAME_SIZE_ERROR. */
    SIZE(6, "WINDOW_UPDATE of a wrong size", "sent a WINDOW_UPDATE of wrong length"),
    /** FRAME_SIZE_ERROR. */
    FRAME(6, "frame too large", "sent a frame above the agreed size"),
    /** ENHANCE_YOUR_CALM. */
    HEADER_BLOCK(0xb, "header block too large", "sent a header block above the limit"),
    /** ENHANCE_YOUR_CALM. */
    RESETS(0xb, "too many resets", "resets streams too often"),
    /** ENHANCE_YOUR_CALM. */
    MEMORY(0xb, "too many requests", "holds many streams or large headers while memory is short"),
    /** ENHANCE_YOUR_CALM. */
    SETTINGS_FLOOD(0xb, "too many settings", "sent too many settings");

    private final int errorCode;
    private final String debugData;
    private final String text;

    Breach(int errorCode, String debugData, String text) {
      this.errorCode = errorCode;
      this.debugData = debugData;
      this.text = text;
    }

    /** What the client did, for the log. */
    public String text() {
      return text;
    }
  }

  private final FrameHeaders fromClient = new FrameHeaders();
  private final FrameHeaders fromServer = new FrameHeaders();
  private final ResetRate resetRate;
  private final OpenStreams streams;
  private final KeepAliveEnforcer pings;
  private final FlowControlChecks flowControl = new FlowControlChecks();
  private final IntConsumer resets;
  private int prefaceSeen;
  private boolean http2 = true;
  private int lastStream;

  /** Bytes of the incomplete header block, including its frame headers. */
  private int headerBlockBytes;

  private int unacknowledgedSettings;

  private @Nullable Breach breach;
  private boolean closing;

  /**
   * Creates the limits of one connection.
   *
   * @param enforcesPings false if this port allows any number of pings
   * @param minPingNanos minimum time between two pings while a stream is open
   * @param resetRate how often its streams may be reset; not shared with other connections
   * @param streams counts what the HTTP layer holds for streams; closed with the connection
   * @param resets receives each stream that the client resets
   */
  public Http2FrameLimits(
      boolean enforcesPings,
      long minPingNanos,
      ResetRate resetRate,
      MemoryBudget.Share streams,
      IntConsumer resets) {
    this.pings = new KeepAliveEnforcer(enforcesPings, minPingNanos);
    this.streams = new OpenStreams(streams);
    this.resetRate = resetRate;
    this.resets = resets;
  }

  /**
   * Whether a stream has started, its response has not ended, and neither side has reset it.
   * Thread-safe.
   */
  public boolean isOpen(int stream) {
    return streams.isOpen(stream);
  }

  /** Whether any stream is open. Thread-safe. */
  public boolean hasOpen() {
    return !streams.isEmpty();
  }

  /** Closes the share with the stream, immediately if it is not open. Thread-safe. */
  public void holds(int stream, MemoryBudget.Share share) {
    streams.holds(stream, share);
  }

  /** The connection is closed. */
  public void closed() {
    streams.closed();
  }

  /**
   * Checks bytes from the client.
   *
   * @return the reason to close the connection with {@link #goAway}
   */
  public @Nullable Breach received(ByteBuffer bytes, long nowNanos) {
    while (http2 && prefaceSeen < PREFACE.length && bytes.hasRemaining()) {
      // Other protocols than HTTP/2 are not checked here.
      http2 = bytes.get() == PREFACE[prefaceSeen++];
    }
    while (http2 && breach == null && fromClient.next(bytes)) {
      frame(fromClient.type(), fromClient.flags(), fromClient.stream(), nowNanos);
    }
    return breach;
  }

  /** Whether the client's bytes so far end inside a frame, or a rule was broken inside them. */
  public boolean isInsideFrame() {
    return breach != null || fromClient.isInsideFrame();
  }

  private void frame(int type, int flags, int stream, long nowNanos) {
    if (fromClient.length() > MAX_FRAME_BYTES) {
      breach = Breach.FRAME;
    } else if (type == HEADERS || type == CONTINUATION) {
      if (type == HEADERS && stream > lastStream) {
        lastStream = stream;
        streams.begin(stream);
      }
      headers(stream, (flags & END_HEADERS) != 0);
    } else if (type == RST_STREAM) {
      streams.reset(stream);
      resets.accept(stream);
      reset(nowNanos);
    } else if (type == PING && (flags & ACK) == 0) {
      if (!pings.allowsPing(streams.isEmpty(), nowNanos)) {
        breach = Breach.PINGS;
      }
    } else if (type == WINDOW_UPDATE) {
      breach = flowControl.windowUpdate(stream, fromClient.length(), fromClient.increment());
    } else if (type == SETTINGS && (flags & ACK) == 0) {
      unacknowledgedSettings++;
      if (fromClient.length() > MAX_SETTINGS_BYTES
          || unacknowledgedSettings > MAX_UNACKNOWLEDGED_SETTINGS) {
        breach = Breach.SETTINGS_FLOOD;
      }
    }
    if ((type == HEADERS || type == DATA) && (flags & END_STREAM) != 0) {
      streams.requestEnded(stream);
    }
  }

  /** The HTTP layer checks the order of these frames. */
  private void headers(int stream, boolean ends) {
    headerBlockBytes += FRAME_HEADER_BYTES + fromClient.length();
    if (headerBlockBytes > MAX_HEADER_BLOCK_BYTES) {
      breach = Breach.HEADER_BLOCK;
      return;
    }
    if (ends) {
      headerBlockBytes = 0;
    }
    try {
      streams.headers(stream, fromClient.length());
    } catch (MemoryBudget.Exceeded exceeded) {
      breach = Breach.MEMORY;
    }
  }

  private void reset(long nowNanos) {
    if (!resetRate.allows(nowNanos)) {
      breach = Breach.RESETS;
    }
  }

  /**
   * Checks bytes to the client. Streams that the server resets count as resets too, because clients
   * can cause them (CVE-2025-8671). A client above the limit is rejected at its next frame.
   *
   * @return true when the connection must be closed after these bytes, because the server sent an
   *     error. The HTTP layer only sends it and does not close the connection (RFC 9113 section
   *     5.4.1)
   */
  public boolean sent(ByteBuffer bytes, long nowNanos) {
    while (http2 && fromServer.next(bytes)) {
      int type = fromServer.type();
      if (type == DATA) {
        flowControl.sent(fromServer.length());
        streams.sent(fromServer.stream(), fromServer.length());
      }
      if (type == HEADERS || type == DATA) {
        pings.responseSent();
        if ((fromServer.flags() & END_STREAM) != 0) {
          streams.responseEnded(fromServer.stream());
        }
      } else if (type == RST_STREAM) {
        streams.reset(fromServer.stream());
        reset(nowNanos);
      } else if (type == SETTINGS && (fromServer.flags() & ACK) != 0) {
        unacknowledgedSettings--;
      } else if (type == GOAWAY && fromServer.errorCode() != 0) {
        closing = true;
      }
    }
    return closing;
  }

  /** Encodes the GOAWAY frame with the reason. */
  public byte[] goAway(Breach why) {
    byte[] debugData = why.debugData.getBytes(StandardCharsets.US_ASCII);
    int length = 8 + debugData.length;
    ByteBuffer frame = ByteBuffer.allocate(9 + length);
    frame.put((byte) 0).putShort((short) length);
    frame.put((byte) GOAWAY).put((byte) 0).putInt(0);
    frame.putInt(lastStream).putInt(why.errorCode).put(debugData);
    return frame.array();
  }
}

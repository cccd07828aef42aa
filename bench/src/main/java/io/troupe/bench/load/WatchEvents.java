package io.troupe.bench.load;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.WireFormat;
import java.io.IOException;

/** Reads encoded watch responses without copying the values. */
final class WatchEvents {
  private static final int CREATED = 3;
  private static final int CANCELED = 4;
  private static final int EVENTS = 11;
  private static final int EVENT_TYPE = 1;
  private static final int EVENT_KV = 2;
  private static final int EVENT_PREV_KV = 3;
  private static final int KV_MOD_REVISION = 3;
  private static final int KV_VERSION = 4;
  private static final int KV_VALUE = 5;
  private static final int MARK_BYTES = Long.BYTES;

  /**
   * One event.
   *
   * @param deletion whether the key was deleted
   * @param modRevision revision of the change
   * @param version of the key; 1: the event created it, 0: deletion
   * @param mark the first 8 bytes of the value, big-endian; 0 without a value of that size
   * @param previous whether the event has the previous key-value pair
   */
  record Event(boolean deletion, long modRevision, long version, long mark, boolean previous) {}

  /** Receives the content of a response. */
  interface Receiver {
    /** Called for each event, in order. */
    void event(Event event);

    /** The response confirms the creation of a watcher. */
    void created();

    /** The server ended the watcher. */
    void canceled();
  }

  private WatchEvents() {}

  /**
   * Passes the content of a response to {@code receiver}.
   *
   * @throws IOException if it is not a watch response
   */
  static void read(ByteString response, Receiver receiver) throws IOException {
    CodedInputStream in = response.newCodedInput();
    int tag;
    while ((tag = in.readTag()) != 0) {
      switch (WireFormat.getTagFieldNumber(tag)) {
        case EVENTS -> {
          int limit = in.pushLimit(in.readRawVarint32());
          receiver.event(event(in));
          in.popLimit(limit);
        }
        case CREATED -> {
          if (in.readBool()) {
            receiver.created();
          }
        }
        case CANCELED -> {
          if (in.readBool()) {
            receiver.canceled();
          }
        }
        default -> in.skipField(tag);
      }
    }
  }

  private static Event event(CodedInputStream in) throws IOException {
    boolean deletion = false;
    boolean previous = false;
    long modRevision = 0;
    long version = 0;
    long mark = 0;
    int tag;
    while ((tag = in.readTag()) != 0) {
      switch (WireFormat.getTagFieldNumber(tag)) {
        case EVENT_TYPE -> deletion = in.readEnum() != 0;
        case EVENT_PREV_KV -> {
          previous = true;
          in.skipField(tag);
        }
        case EVENT_KV -> {
          int limit = in.pushLimit(in.readRawVarint32());
          int kvTag;
          while ((kvTag = in.readTag()) != 0) {
            switch (WireFormat.getTagFieldNumber(kvTag)) {
              case KV_MOD_REVISION -> modRevision = in.readInt64();
              case KV_VERSION -> version = in.readInt64();
              case KV_VALUE -> mark = mark(in);
              default -> in.skipField(kvTag);
            }
          }
          in.popLimit(limit);
        }
        default -> in.skipField(tag);
      }
    }
    return new Event(deletion, modRevision, version, mark, previous);
  }

  private static long mark(CodedInputStream in) throws IOException {
    int length = in.readRawVarint32();
    if (length < MARK_BYTES) {
      in.skipRawBytes(length);
      return 0;
    }
    long mark = Long.reverseBytes(in.readRawLittleEndian64());
    in.skipRawBytes(length - MARK_BYTES);
    return mark;
  }
}

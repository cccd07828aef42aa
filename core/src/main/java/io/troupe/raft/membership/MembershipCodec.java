package io.troupe.raft.membership;

import io.troupe.model.Bytes;
import io.troupe.model.NodeId;
import io.troupe.model.RequestId;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Encodes a {@link ConfEntry} (data of an entry of kind CONF_CHANGE) and a {@link Membership} (in
 * the state and in snapshots). See docs/formats/conf-change.md.
 */
public final class MembershipCodec {
  /** The only version so far. */
  public static final byte VERSION = 1;

  private MembershipCodec() {}

  @FunctionalInterface
  private interface Writer {
    void write(DataOutputStream out) throws IOException;
  }

  @FunctionalInterface
  private interface Reader<T> {
    T read(DataInputStream in) throws IOException;
  }

  /** Encodes the data of an entry. */
  public static Bytes encode(ConfEntry entry) {
    return encode(
        out -> {
          RequestId id = entry.id();
          out.writeLong(id == null ? 0 : id.value());
          out.writeInt(entry.changes().size());
          for (ConfChange change : entry.changes()) {
            out.writeByte(change.kind().code());
            out.writeLong(change.member().value());
            out.writeInt(change.peerUrls().size());
            for (String url : change.peerUrls()) {
              byte[] text = url.getBytes(StandardCharsets.UTF_8);
              out.writeInt(text.length);
              out.write(text);
            }
          }
          write(out, entry.after());
        });
  }

  /** Encodes a membership. */
  public static Bytes encode(Membership membership) {
    return encode(out -> write(out, membership));
  }

  /**
   * Decodes the data of an entry.
   *
   * @throws IllegalStateException if it cannot be decoded: the log is damaged or newer than this
   *     program
   */
  public static ConfEntry decodeEntry(Bytes data) {
    return decode(
        data,
        in -> {
          long id = in.readLong();
          List<ConfChange> changes = new ArrayList<>();
          int count = count(in, 13);
          for (int i = 0; i < count; i++) {
            ConfChange.Kind kind = ConfChange.Kind.ofCode(in.readUnsignedByte());
            NodeId member = new NodeId(in.readLong());
            List<String> urls = new ArrayList<>();
            int urlCount = count(in, 4);
            for (int u = 0; u < urlCount; u++) {
              byte[] text = new byte[count(in, 1)];
              in.readFully(text);
              urls.add(new String(text, StandardCharsets.UTF_8));
            }
            changes.add(new ConfChange(kind, member, urls));
          }
          return new ConfEntry(id == 0 ? null : new RequestId(id), changes, membership(in));
        });
  }

  /**
   * Decodes a membership.
   *
   * @throws IllegalStateException if it cannot be decoded
   */
  public static Membership decodeMembership(Bytes data) {
    return decode(data, MembershipCodec::membership);
  }

  private static Bytes encode(Writer body) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(VERSION);
      body.write(out);
    } catch (IOException e) {
      throw new UncheckedIOException("in-memory stream failed", e);
    }
    return Bytes.wrap(bytes.toByteArray());
  }

  private static <T> T decode(Bytes data, Reader<T> body) {
    ByteArrayInputStream bytes =
        new ByteArrayInputStream(data.backingArray(), data.backingOffset(), data.length());
    try (DataInputStream in = new DataInputStream(bytes)) {
      int version = in.readUnsignedByte();
      if (version != VERSION) {
        throw new IllegalStateException("unknown membership format version " + version);
      }
      T value = body.read(in);
      if (bytes.available() > 0) {
        throw new IllegalStateException(
            "membership is followed by " + bytes.available() + " bytes");
      }
      return value;
    } catch (IOException | IllegalArgumentException e) {
      throw new IllegalStateException("membership cannot be decoded: " + e, e);
    }
  }

  private static void write(DataOutputStream out, Membership membership) throws IOException {
    out.writeLong(membership.version());
    for (Set<NodeId> set :
        List.of(
            membership.voters(),
            membership.learners(),
            membership.outgoing(),
            membership.leaving(),
            membership.removed())) {
      out.writeInt(set.size());
      for (NodeId member : set) {
        out.writeLong(member.value());
      }
    }
  }

  private static Membership membership(DataInputStream in) throws IOException {
    long version = in.readLong();
    return new Membership(version, set(in), set(in), set(in), set(in), set(in));
  }

  private static Set<NodeId> set(DataInputStream in) throws IOException {
    Set<NodeId> set = new TreeSet<>();
    int count = count(in, 8);
    for (int i = 0; i < count; i++) {
      set.add(new NodeId(in.readLong()));
    }
    return set;
  }

  /** A damaged count must not allocate more memory than there are bytes. */
  private static int count(DataInputStream in, int bytesEach) throws IOException {
    int count = in.readInt();
    if (count < 0 || count > in.available() / bytesEach) {
      throw new IOException("count " + count + " with " + in.available() + " bytes left");
    }
    return count;
  }
}

package io.troupe.etcd;

import com.google.protobuf.CodedInputStream;
import io.troupe.model.Bytes;
import io.troupe.model.MemberAttributes;
import io.troupe.model.NodeId;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Data of an entry with a request: {@code etcdserverpb.InternalRaftRequest}, or the form of etcd's
 * first API, in which etcd up to 3.5 publishes the attributes of members.
 *
 * @param user name of the user that made the request; empty without one
 * @param authRevision auth revision of the state that authenticated the user
 * @param kind number of the field that contains the request, or a constant of this class
 * @param body the request's message; for {@link #FIRST_API} method and path
 * @param published for {@link #PUBLISH} what the member published
 */
public record RaftRequest(
    String user, long authRevision, int kind, Bytes body, @Nullable MemberAttributes published) {
  /** A request without effect on the state. */
  public static final int NONE = 0;

  /** Attributes of a member. */
  public static final int PUBLISH = 1301;

  /** A change of keys of the first API. */
  public static final int FIRST_API = 2;

  private static final String WHAT = "request";
  private static final int HEADER = 100;
  private static final int MESSAGE = 2;
  private static final Set<String> METHODS =
      Set.of("PUT", "POST", "DELETE", "GET", "QGET", "HEAD", "SYNC");
  private static final Set<String> HARMLESS = Set.of("GET", "QGET", "HEAD", "SYNC");
  private static final Pattern ATTRIBUTES = Pattern.compile("/0/members/([0-9a-f]+)/attributes");
  private static final String VERSION = "/0/version";

  /**
   * Reads a request.
   *
   * @throws io.troupe.etcd.bolt.DamagedDatabaseException if it is malformed
   */
  public static RaftRequest decode(Bytes data) {
    Parts parts = new Parts();
    EtcdMessageReader.read(WHAT, data, parts::read);
    if (parts.kind == FIRST_API) {
      // A request of the first API begins with its method, an embedded one with its number.
      return firstApi(METHODS.contains(parts.first.utf8()) ? data : parts.first);
    }
    MemberAttributes published = parts.kind == PUBLISH ? published(parts.body) : null;
    return new RaftRequest(parts.user, parts.authRevision, parts.kind, parts.body, published);
  }

  /** Fields of the message. */
  private static final class Parts {
    String user = "";
    long authRevision;
    int kind = NONE;
    Bytes body = Bytes.EMPTY;
    Bytes first = Bytes.EMPTY;

    boolean read(int number, CodedInputStream in) throws IOException {
      if ((in.getLastTag() & 7) != MESSAGE) {
        return false;
      }
      Bytes content = Bytes.wrap(in.readByteArray());
      if (number == HEADER) {
        header(content);
      } else if (number == FIRST_API) {
        kind = FIRST_API;
        first = content;
      } else if (kind != FIRST_API) {
        kind = number;
        body = content;
      }
      return true;
    }

    private void header(Bytes header) {
      EtcdMessageReader.read(
          "header of a request",
          header,
          (number, in) -> {
            switch (number) {
              case 2 -> user = in.readBytes().toStringUtf8();
              case 3 -> authRevision = in.readUInt64();
              default -> {
                return false;
              }
            }
            return true;
          });
    }
  }

  private static RaftRequest firstApi(Bytes data) {
    Bytes[] texts = {Bytes.EMPTY, Bytes.EMPTY, Bytes.EMPTY, Bytes.EMPTY, Bytes.EMPTY};
    EtcdMessageReader.read(
        "request of the first API",
        data,
        (number, in) -> {
          if (number < 2 || number > 4) {
            return false;
          }
          texts[number] = Bytes.wrap(in.readByteArray());
          return true;
        });
    String method = texts[2].utf8();
    String path = texts[3].utf8();
    Matcher attributes = ATTRIBUTES.matcher(path);
    if (method.equals("PUT") && attributes.matches()) {
      NodeId member = EtcdJson.member(attributes.group(1));
      return new RaftRequest(
          "",
          0,
          PUBLISH,
          Bytes.EMPTY,
          EtcdJson.parse("attributes of member " + member, texts[4]).attributes(member));
    }
    int kind = path.equals(VERSION) || HARMLESS.contains(method) ? NONE : FIRST_API;
    return new RaftRequest("", 0, kind, Bytes.utf8(method + " " + path), null);
  }

  /** Reads {@code membershippb.ClusterMemberAttrSetRequest}. */
  private static MemberAttributes published(Bytes message) {
    long[] member = {0};
    String[] name = {""};
    List<String> urls = new ArrayList<>();
    EtcdMessageReader.read(
        "attributes of a member",
        message,
        (number, in) -> {
          switch (number) {
            case 1 -> member[0] = in.readUInt64();
            case 2 -> attributes(Bytes.wrap(in.readByteArray()), name, urls);
            default -> {
              return false;
            }
          }
          return true;
        });
    return new MemberAttributes(new NodeId(member[0]), name[0], urls);
  }

  private static void attributes(Bytes message, String[] name, List<String> urls) {
    EtcdMessageReader.read(
        "attributes of a member",
        message,
        (number, in) -> {
          switch (number) {
            case 1 -> name[0] = in.readBytes().toStringUtf8();
            case 2 -> urls.add(in.readBytes().toStringUtf8());
            default -> {
              return false;
            }
          }
          return true;
        });
  }
}

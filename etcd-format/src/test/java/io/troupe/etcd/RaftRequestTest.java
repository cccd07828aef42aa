package io.troupe.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.CodedOutputStream;
import io.troupe.etcd.bolt.DamagedDatabaseException;
import io.troupe.model.Bytes;
import io.troupe.model.MemberAttributes;
import io.troupe.model.NodeId;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Data of entries in etcd's log (docs/formats/etcd-wal.md). */
class RaftRequestTest {
  private static final String ATTRIBUTES =
      "{\"name\":\"one\",\"clientURLs\":[\"http://a:1\",\"http://b:2\"]}";
  private static final MemberAttributes PUBLISHED =
      new MemberAttributes(new NodeId(0xabcL), "one", List.of("http://a:1", "http://b:2"));

  private interface Fields {
    void write(CodedOutputStream out) throws IOException;
  }

  private static Bytes message(Fields fields) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    CodedOutputStream out = CodedOutputStream.newInstance(bytes);
    fields.write(out);
    out.flush();
    return Bytes.wrap(bytes.toByteArray());
  }

  private static Bytes firstApi(String method, String path, String value) throws IOException {
    return message(
        out -> {
          out.writeUInt64(1, 77);
          out.writeString(2, method);
          out.writeString(3, path);
          out.writeString(4, value);
          out.writeBool(5, false);
        });
  }

  @Test
  void requesterAndBodyAreRead() throws IOException {
    Bytes header =
        message(
            out -> {
              out.writeUInt64(1, 5);
              out.writeString(2, "clerk");
              out.writeUInt64(3, 9);
            });
    Bytes data =
        message(
            out -> {
              out.writeUInt64(1, 5);
              out.writeByteArray(4, new byte[] {10, 1, 'k'});
              out.writeByteArray(100, header.toArray());
            });
    assertThat(RaftRequest.decode(data))
        .isEqualTo(new RaftRequest("clerk", 9, 4, Bytes.of(10, 1, 'k'), null));
  }

  @Test
  void attributesArePublishedInThreeForms() throws IOException {
    Bytes first = firstApi("PUT", "/0/members/abc/attributes", ATTRIBUTES);
    assertThat(RaftRequest.decode(first).published()).isEqualTo(PUBLISHED);
    Bytes embedded = message(out -> out.writeByteArray(2, first.toArray()));
    assertThat(RaftRequest.decode(embedded).published()).isEqualTo(PUBLISHED);
    Bytes attributes =
        message(
            out -> {
              out.writeString(1, "one");
              out.writeString(2, "http://a:1");
              out.writeString(2, "http://b:2");
            });
    Bytes body =
        message(
            out -> {
              out.writeUInt64(1, 0xabc);
              out.writeByteArray(2, attributes.toArray());
            });
    RaftRequest newest =
        RaftRequest.decode(message(out -> out.writeByteArray(1301, body.toArray())));
    assertThat(newest.kind()).isEqualTo(RaftRequest.PUBLISH);
    assertThat(newest.published()).isEqualTo(PUBLISHED);
  }

  @Test
  void onlyWritesOfTheFirstApiMatter() throws IOException {
    assertThat(RaftRequest.decode(firstApi("PUT", "/0/version", "3.5.0")).kind())
        .isEqualTo(RaftRequest.NONE);
    assertThat(RaftRequest.decode(firstApi("SYNC", "", "")).kind()).isEqualTo(RaftRequest.NONE);
    RaftRequest write = RaftRequest.decode(firstApi("PUT", "/1/key", "v"));
    assertThat(write.kind()).isEqualTo(RaftRequest.FIRST_API);
    assertThat(write.body().utf8()).isEqualTo("PUT /1/key");
  }

  @Test
  void changesOfMembersAreRead() throws IOException {
    assertThat(change(0, "{\"id\":7,\"peerURLs\":[\"http://a:1\"],\"isPromote\":false}"))
        .isEqualTo(added(MemberChange.Kind.ADD_VOTER));
    assertThat(change(3, "{\"peerURLs\":[\"http://a:1\"],\"isLearner\":true}"))
        .isEqualTo(added(MemberChange.Kind.ADD_LEARNER));
    assertThat(change(2, "{\"peerURLs\":[\"http://a:1\"]}"))
        .isEqualTo(added(MemberChange.Kind.UPDATE));
    assertThat(change(0, "{\"id\":7,\"peerURLs\":null,\"isPromote\":true}"))
        .isEqualTo(new MemberChange(MemberChange.Kind.PROMOTE, new NodeId(7), List.of()));
    assertThat(change(1, ""))
        .isEqualTo(new MemberChange(MemberChange.Kind.REMOVE, new NodeId(7), List.of()));
    assertThatThrownBy(() -> change(9, "{}")).isInstanceOf(DamagedDatabaseException.class);
    assertThatThrownBy(() -> change(0, "[")).isInstanceOf(DamagedDatabaseException.class);
  }

  private static MemberChange added(MemberChange.Kind kind) {
    return new MemberChange(kind, new NodeId(7), List.of("http://a:1"));
  }

  private static MemberChange change(int kind, String context) throws IOException {
    return MemberChange.decode(
        message(
            out -> {
              out.writeUInt64(1, 1);
              out.writeUInt64(2, kind);
              out.writeUInt64(3, 7);
              out.writeString(4, context);
            }));
  }

  @Test
  void malformedRequestIsReported() {
    assertThatThrownBy(() -> RaftRequest.decode(Bytes.of(0x22, 9, 1)))
        .isInstanceOf(DamagedDatabaseException.class)
        .hasMessageContaining("malformed request");
  }
}

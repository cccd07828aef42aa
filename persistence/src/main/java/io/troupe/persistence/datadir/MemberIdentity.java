package io.troupe.persistence.datadir;

import static java.util.stream.Collectors.joining;

import io.troupe.model.NodeId;
import io.troupe.persistence.datadir.CheckedText.BadTextException;
import io.troupe.persistence.datadir.CheckedText.Field;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The owner of a data directory. Written once, at bootstrap.
 *
 * @param clusterId id of the cluster, unsigned, not 0
 * @param memberId id of the member, not none
 * @param name the member's name at bootstrap; any text
 * @param peerUrls the peer URLs at bootstrap, in order; immutable
 * @param joins false for an initial member of a new cluster: its log starts with the initial
 *     membership. True for a member that was added to a running cluster: it receives the membership
 *     from its leader
 * @param members all members at bootstrap, including this one, and their peer URLs; by id,
 *     unmodifiable. For a joining member only the first addresses to contact
 * @param createdBy version of the program that created the directory
 */
public record MemberIdentity(
    long clusterId,
    NodeId memberId,
    String name,
    List<String> peerUrls,
    boolean joins,
    SortedMap<NodeId, List<String>> members,
    String createdBy) {
  /** Version of the directory layout; a change of any file's location increments it. */
  public static final int FORMAT_VERSION = 1;

  static final String TITLE = "troupe-member";

  private static final String FIRST_MEMBER = "first-member";
  private static final String KNOWN_MEMBER = "known-member";

  public MemberIdentity {
    peerUrls = List.copyOf(peerUrls);
    TreeMap<NodeId, List<String>> copy = new TreeMap<>();
    members.forEach((member, urls) -> copy.put(member, List.copyOf(urls)));
    members = Collections.unmodifiableSortedMap(copy);
    if (clusterId == 0 || memberId.isNone()) {
      throw new IllegalArgumentException("cluster id and member id must not be 0");
    }
    if (!members.containsKey(memberId)) {
      throw new IllegalArgumentException(memberId + " is not among the members");
    }
  }

  /** Identity of the only member of a new cluster. */
  public MemberIdentity(
      long clusterId, NodeId memberId, String name, List<String> peerUrls, String createdBy) {
    this(
        clusterId,
        memberId,
        name,
        peerUrls,
        false,
        new TreeMap<>(Map.of(memberId, peerUrls)),
        createdBy);
  }

  /** The bytes of the identity file. */
  byte[] encode() {
    return CheckedText.encode(TITLE, FORMAT_VERSION, fields());
  }

  /** Fields of the identity file, in order. */
  List<Field> fields() {
    List<Field> fields = new ArrayList<>();
    fields.add(new Field("cluster-id", Long.toHexString(clusterId)));
    fields.add(new Field("member-id", memberId.toString()));
    fields.add(new Field("name", escape(name)));
    for (String url : peerUrls) {
      fields.add(new Field("peer-url", escape(url)));
    }
    members.forEach(
        (member, urls) ->
            fields.add(
                new Field(
                    joins ? KNOWN_MEMBER : FIRST_MEMBER,
                    member + urls.stream().map(url -> " " + escape(url)).collect(joining()))));
    fields.add(new Field("created-by", escape(createdBy)));
    return fields;
  }

  /**
   * Reads the result of {@link #encode()}.
   *
   * @throws BadTextException if it is damaged or of another version
   * @throws IllegalArgumentException if a field is missing or invalid
   */
  static MemberIdentity decode(byte[] content) throws BadTextException {
    return of(CheckedText.decode(TITLE, FORMAT_VERSION, content));
  }

  /**
   * Reads {@link #fields}; other fields are skipped.
   *
   * @throws IllegalArgumentException if a field is missing or invalid
   */
  static MemberIdentity of(List<Field> fields) {
    List<String> urls = new ArrayList<>();
    boolean joins = false;
    TreeMap<NodeId, List<String>> members = new TreeMap<>();
    for (Field field : fields) {
      if (field.name().equals("peer-url")) {
        urls.add(unescape(field.value()));
      } else if (field.name().equals(FIRST_MEMBER) || field.name().equals(KNOWN_MEMBER)) {
        joins = field.name().equals(KNOWN_MEMBER);
        List<String> parts = List.of(field.value().split(" ", -1));
        members.put(
            member(parts.get(0)),
            parts.subList(1, parts.size()).stream().map(MemberIdentity::unescape).toList());
      }
    }
    return new MemberIdentity(
        Long.parseUnsignedLong(value(fields, "cluster-id"), 16),
        member(value(fields, "member-id")),
        unescape(value(fields, "name")),
        urls,
        joins,
        members,
        unescape(value(fields, "created-by")));
  }

  static NodeId member(String hex) {
    return new NodeId(Long.parseUnsignedLong(hex, 16));
  }

  static String value(List<Field> fields, String name) {
    for (Field field : fields) {
      if (field.name().equals(name)) {
        return field.value();
      }
    }
    throw new IllegalArgumentException("missing field " + name);
  }

  private static String escape(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  private static String unescape(String text) {
    return URLDecoder.decode(text, StandardCharsets.UTF_8);
  }
}

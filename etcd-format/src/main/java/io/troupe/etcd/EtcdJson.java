package io.troupe.etcd;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.troupe.etcd.bolt.DamagedDatabaseException;
import io.troupe.model.Bytes;
import io.troupe.model.MemberAttributes;
import io.troupe.model.NodeId;
import java.util.ArrayList;
import java.util.List;

/** Reads the JSON objects in which etcd stores members. Absent fields are empty. */
final class EtcdJson {
  private final JsonObject object;

  private EtcdJson(JsonObject object) {
    this.object = object;
  }

  /**
   * Parses an object.
   *
   * @throws DamagedDatabaseException if it is none
   */
  static EtcdJson parse(String what, Bytes text) {
    try {
      return new EtcdJson(JsonParser.parseString(text.utf8()).getAsJsonObject());
    } catch (RuntimeException e) {
      throw new DamagedDatabaseException("malformed " + what + ": " + e.getMessage());
    }
  }

  /** A boolean, false if it is absent. */
  boolean flag(String name) {
    JsonElement value = object.get(name);
    return value != null && value.isJsonPrimitive() && value.getAsBoolean();
  }

  /** A text, empty if it is absent. */
  String text(String name) {
    JsonElement value = object.get(name);
    return value != null && value.isJsonPrimitive() ? value.getAsString() : "";
  }

  /** A list of texts, empty if it is absent. */
  List<String> texts(String name) {
    List<String> texts = new ArrayList<>();
    if (object.get(name) instanceof JsonArray array) {
      array.forEach(each -> texts.add(each.getAsString()));
    }
    return texts;
  }

  /** The fields that a member publishes about itself. */
  MemberAttributes attributes(NodeId member) {
    return new MemberAttributes(member, text("name"), texts("clientURLs"));
  }

  /**
   * Reads the id of a member in hexadecimal.
   *
   * @throws DamagedDatabaseException if it is none
   */
  static NodeId member(String hex) {
    try {
      return new NodeId(Long.parseUnsignedLong(hex, 16));
    } catch (NumberFormatException e) {
      throw new DamagedDatabaseException("malformed id of a member: " + hex);
    }
  }
}

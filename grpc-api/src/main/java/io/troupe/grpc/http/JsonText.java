package io.troupe.grpc.http;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.troupe.grpc.error.GrpcStatus;

/** JSON texts that do not come from protobuf messages. */
final class JsonText {
  private static final Gson GSON =
      new GsonBuilder().disableHtmlEscaping().serializeSpecialFloatingPointValues().create();

  private JsonText() {}

  static String quoted(String text) {
    return GSON.toJson(text);
  }

  static String of(JsonElement element) {
    return GSON.toJson(element);
  }

  /** A status in the gateway's form (J5). */
  static String of(GrpcStatus status) {
    JsonObject error = new JsonObject();
    error.addProperty("code", status.code());
    error.addProperty("message", status.message());
    return of(error);
  }
}

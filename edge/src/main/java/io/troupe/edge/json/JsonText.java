package io.troupe.edge.json;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.troupe.grpc.error.GrpcStatus;

/** JSON texts that do not come from protobuf messages. */
public final class JsonText {
  private static final Gson GSON =
      new GsonBuilder().disableHtmlEscaping().serializeSpecialFloatingPointValues().create();

  private JsonText() {}

  public static String quoted(String text) {
    return GSON.toJson(text);
  }

  public static String of(JsonElement element) {
    return GSON.toJson(element);
  }

  /** A status in the gateway's form (J5). */
  public static String of(GrpcStatus status) {
    JsonObject error = new JsonObject();
    error.addProperty("code", status.code());
    error.addProperty("message", status.message());
    return of(error);
  }
}

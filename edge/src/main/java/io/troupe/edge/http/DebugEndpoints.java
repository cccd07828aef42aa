package io.troupe.edge.http;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.sun.management.UnixOperatingSystemMXBean;
import io.troupe.edge.json.JsonText;
import io.troupe.server.Member;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.lang.management.MemoryUsage;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpResponse;

/** /debug/vars: statistics of the process and of Raft as one JSON object. */
public final class DebugEndpoints {
  private final Member member;

  public DebugEndpoints(Member member) {
    this.member = member;
  }

  HttpResponse vars() {
    JsonObject vars = new JsonObject();
    vars.add("cmdline", commandLine());
    vars.addProperty("file_descriptor_limit", fileDescriptorLimit());
    vars.add("memstats", memory());
    vars.add("raft.status", raft());
    return HttpResponse.create()
        .withEntity(ContentTypes.APPLICATION_JSON, JsonText.of(vars) + "\n");
  }

  /** The program and its arguments, as far as the process can read them. */
  static JsonArray commandLine() {
    JsonArray line = new JsonArray();
    ProcessHandle.Info info = ProcessHandle.current().info();
    line.add(info.command().orElse("java"));
    info.arguments()
        .ifPresent(
            arguments -> {
              for (String argument : arguments) {
                line.add(argument);
              }
            });
    return line;
  }

  private static long fileDescriptorLimit() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
        ? unix.getMaxFileDescriptorCount()
        : 0;
  }

  private static JsonObject memory() {
    MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
    MemoryUsage heap = memory.getHeapMemoryUsage();
    MemoryUsage other = memory.getNonHeapMemoryUsage();
    long collections = 0;
    long collectionMs = 0;
    for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
      collections += Math.max(0, collector.getCollectionCount());
      collectionMs += Math.max(0, collector.getCollectionTime());
    }
    JsonObject out = new JsonObject();
    out.addProperty("Sys", heap.getCommitted() + other.getCommitted());
    out.addProperty("HeapAlloc", heap.getUsed());
    out.addProperty("HeapInuse", heap.getUsed());
    out.addProperty("HeapSys", heap.getCommitted());
    out.addProperty("HeapMax", heap.getMax());
    out.addProperty("NonHeapInuse", other.getUsed());
    out.addProperty("NumGC", collections);
    out.addProperty("PauseTotalNs", collectionMs * 1_000_000);
    return out;
  }

  private JsonObject raft() {
    long applied = member.status().applied();
    JsonObject out = new JsonObject();
    out.addProperty("id", member.status().memberId().toString());
    out.addProperty("term", member.status().term());
    out.addProperty("commit", member.status().committed());
    out.addProperty("applied", applied);
    out.addProperty("lead", member.status().leader().toString());
    out.addProperty(
        "raftState",
        member.status().leader().equals(member.status().memberId())
            ? "StateLeader"
            : "StateFollower");
    return out;
  }
}

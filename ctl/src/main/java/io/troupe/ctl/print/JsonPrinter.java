package io.troupe.ctl.print;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import io.troupe.ctl.cli.Console;
import io.troupe.ctl.text.Integers;
import io.troupe.grpc.api.LeaseGrantResponse;
import io.troupe.grpc.api.LeaseKeepAliveResponse;
import io.troupe.grpc.api.LeaseLeasesResponse;
import io.troupe.grpc.api.LeaseStatus;
import io.troupe.grpc.api.LeaseTimeToLiveResponse;
import io.troupe.grpc.api.Member;
import io.troupe.grpc.api.MemberAddResponse;
import io.troupe.grpc.api.MemberListResponse;
import io.troupe.grpc.api.MemberPromoteResponse;
import io.troupe.grpc.api.MemberRemoveResponse;
import io.troupe.grpc.api.MemberUpdateResponse;
import io.troupe.grpc.api.ResponseHeader;
import io.troupe.grpc.api.ResponseOp;
import io.troupe.grpc.api.TxnResponse;
import io.troupe.grpc.api.WatchResponse;
import java.util.List;

/** One line of JSON for each response (CT4, CT5). */
final class JsonPrinter implements Printer {
  private final Console console;
  private final boolean hex;

  /**
   * @param hex whether the responses about members have IDs in hexadecimal
   */
  JsonPrinter(Console console, boolean hex) {
    this.console = console;
    this.hex = hex;
  }

  @Override
  public void other(Message response) {
    print(new JsonText().message(response));
  }

  @Override
  public void refuse() {
    throw new IllegalStateException("JSON has a form for each response");
  }

  private void print(JsonText json) {
    console.line(json.toString());
  }

  @Override
  public void endpointHealth(List<EndpointHealth> endpoints) {
    JsonText json = new JsonText().open('[');
    for (EndpointHealth each : endpoints) {
      json.element().open('{');
      json.field("endpoint", each.endpoint());
      json.field("health", each.healthy());
      json.field("took", each.took());
      if (!each.error().isEmpty()) {
        json.field("error", each.error());
      }
      json.close('}');
    }
    print(json.close(']'));
  }

  @Override
  public void endpointStatus(List<EndpointStatus> endpoints) {
    if (endpoints.isEmpty()) {
      print(new JsonText().raw("null"));
      return;
    }
    JsonText json = new JsonText().open('[');
    for (EndpointStatus each : endpoints) {
      json.element().open('{');
      json.field("Endpoint", each.endpoint()).field("Status", each.status()).close('}');
    }
    print(json.close(']'));
  }

  @Override
  public void endpointHash(List<EndpointHash> endpoints) {
    if (endpoints.isEmpty()) {
      print(new JsonText().raw("null"));
      return;
    }
    JsonText json = new JsonText().open('[');
    for (EndpointHash each : endpoints) {
      json.element().open('{');
      json.field("Endpoint", each.endpoint()).field("HashKV", each.hash()).close('}');
    }
    print(json.close(']'));
  }

  @Override
  public void txn(TxnResponse r) {
    JsonText json = new JsonText();
    txn(json, r);
    print(json);
  }

  private static void txn(JsonText json, TxnResponse r) {
    json.open('{');
    if (r.hasHeader()) {
      json.field("header", r.getHeader());
    }
    if (r.getSucceeded()) {
      json.field("succeeded", true);
    }
    if (r.getResponsesCount() > 0) {
      json.name("responses").open('[');
      for (ResponseOp op : r.getResponsesList()) {
        json.element().open('{').name("Response");
        if (op.hasResponseTxn()) {
          json.open('{').name("response_txn");
          txn(json, op.getResponseTxn());
          json.close('}');
        } else {
          json.message(op);
        }
        json.close('}');
      }
      json.close(']');
    }
    json.close('}');
  }

  @Override
  public void watch(WatchResponse r) {
    JsonText json = new JsonText().open('{');
    json.field("Header", r.getHeader()).name("Events");
    if (r.getEventsCount() == 0) {
      json.raw("null");
    } else {
      json.open('[');
      r.getEventsList().forEach(event -> json.element().message(event));
      json.close(']');
    }
    json.field("CompactRevision", r.getCompactRevision());
    json.field("Canceled", r.getCanceled());
    json.field("Created", r.getCreated());
    print(json.field("CancelReason", r.getCancelReason()).close('}'));
  }

  private static JsonText flat(ResponseHeader header) {
    return new JsonText().open('{').fields(header);
  }

  @Override
  public void grant(LeaseGrantResponse r) {
    JsonText json = flat(r.getHeader()).field("ID", r.getID()).field("TTL", r.getTTL());
    print(json.field("Error", r.getError()).close('}'));
  }

  @Override
  public void keepAlive(LeaseKeepAliveResponse r) {
    print(flat(r.getHeader()).field("ID", r.getID()).field("TTL", r.getTTL()).close('}'));
  }

  @Override
  public void timeToLive(LeaseTimeToLiveResponse r, boolean keys) {
    JsonText json = flat(r.getHeader()).field("id", r.getID()).field("ttl", r.getTTL());
    json.field("granted-ttl", r.getGrantedTTL()).name("keys");
    if (r.getKeysCount() == 0) {
      json.raw("null");
    } else {
      json.open('[');
      for (ByteString key : r.getKeysList()) {
        json.element().bytes(key);
      }
      json.close(']');
    }
    print(json.close('}'));
  }

  @Override
  public void leases(LeaseLeasesResponse r) {
    JsonText json = flat(r.getHeader()).name("leases").open('[');
    for (LeaseStatus lease : r.getLeasesList()) {
      json.element().open('{').field("id", lease.getID()).close('}');
    }
    print(json.close(']').close('}'));
  }

  @Override
  public void memberAdd(MemberAddResponse r) {
    if (!hex) {
      other(r);
      return;
    }
    JsonText json = new JsonText().open('{').name("header");
    header(json, r.getHeader());
    json.name("member");
    member(json, r.getMember());
    print(members(json, r.getMembersList()).close('}'));
  }

  @Override
  public void memberRemove(long id, MemberRemoveResponse r) {
    members(r, r.getHeader(), r.getMembersList());
  }

  @Override
  public void memberUpdate(long id, MemberUpdateResponse r) {
    members(r, r.getHeader(), r.getMembersList());
  }

  @Override
  public void memberPromote(long id, MemberPromoteResponse r) {
    members(r, r.getHeader(), r.getMembersList());
  }

  @Override
  public void memberList(MemberListResponse r) {
    members(r, r.getHeader(), r.getMembersList());
  }

  private void members(Message response, ResponseHeader header, List<Member> members) {
    if (!hex) {
      other(response);
      return;
    }
    JsonText json = new JsonText().open('{').name("header");
    header(json, header);
    print(members(json, members).close('}'));
  }

  private static void header(JsonText json, ResponseHeader header) {
    json.open('{').field("cluster_id", Integers.hex(header.getClusterId()));
    json.field("member_id", Integers.hex(header.getMemberId()));
    json.fields(header.toBuilder().clearClusterId().clearMemberId().build()).close('}');
  }

  private static void member(JsonText json, Member member) {
    json.open('{').field("ID", Integers.hex(member.getID()));
    json.fields(member.toBuilder().clearID().build()).close('}');
  }

  private static JsonText members(JsonText json, List<Member> members) {
    json.name("members").open('[');
    for (Member member : members) {
      json.element();
      member(json, member);
    }
    return json.close(']');
  }
}

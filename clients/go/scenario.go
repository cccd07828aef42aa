// The common scenario (../README.md) by etcd's own client, which etcdctl, Kubernetes and Patroni's peers use.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

const p = "go/"

func connect(user, password string) *clientv3.Client {
	config := clientv3.Config{
		Endpoints:   []string{os.Getenv("ENDPOINT")},
		DialTimeout: 10 * time.Second,
		Username:    user,
		Password:    password,
	}
	if ca := os.Getenv("CACERT"); ca != "" {
		pem, err := os.ReadFile(ca)
		must(err)
		pool := x509.NewCertPool()
		check(pool.AppendCertsFromPEM(pem), "no certificate in "+ca)
		config.TLS = &tls.Config{RootCAs: pool}
	}
	client, err := clientv3.New(config)
	must(err)
	return client
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func check(fine bool, text string) {
	if !fine {
		panic(text)
	}
}

func ok(name string) { fmt.Println("ok " + name) }

func putAndGet(ctx context.Context, c *clientv3.Client) {
	first, err := c.Put(ctx, p+"a", "1")
	must(err)
	value := []byte{0, 255, 10}
	second, err := c.Put(ctx, p+"a", string(value))
	must(err)
	check(second.Header.Revision == first.Header.Revision+1, "revisions do not follow each other")
	found, err := c.Get(ctx, p+"a")
	must(err)
	check(bytes.Equal(found.Kvs[0].Value, value) && found.Kvs[0].Version == 2, "another value")
	missing, err := c.Get(ctx, p+"missing")
	must(err)
	check(missing.Count == 0, "a key that was never put")
	ok("put and get")
}

func ranges(ctx context.Context, c *clientv3.Client) {
	for i := 0; i < 10; i++ {
		_, err := c.Put(ctx, fmt.Sprintf("%srange/%d", p, i), fmt.Sprint(i))
		must(err)
	}
	last, err := c.Get(ctx, p+"range/", clientv3.WithPrefix(), clientv3.WithLimit(3),
		clientv3.WithSort(clientv3.SortByKey, clientv3.SortDescend))
	must(err)
	check(last.Count == 10 && last.More && len(last.Kvs) == 3 && string(last.Kvs[0].Value) == "9", "another range")
	ok("ranges")
}

func transactions(ctx context.Context, c *clientv3.Client) {
	for _, expected := range []bool{true, false} {
		done, err := c.Txn(ctx).If(clientv3.Compare(clientv3.Version(p+"txn"), "=", 0)).
			Then(clientv3.OpPut(p+"txn", "1")).Else(clientv3.OpGet(p + "txn")).Commit()
		must(err)
		check(done.Succeeded == expected, "the other branch")
	}
	ok("transactions")
}

func deletes(ctx context.Context, c *clientv3.Client) {
	done, err := c.Delete(ctx, p+"range/", clientv3.WithPrefix())
	must(err)
	check(done.Deleted == 10, "another number of deleted keys")
	none, err := c.Delete(ctx, p+"missing")
	must(err)
	check(none.Deleted == 0, "a key that was never put")
	ok("deletes")
}

func leases(ctx context.Context, c *clientv3.Client) {
	lease, err := c.Grant(ctx, 60)
	must(err)
	_, err = c.Put(ctx, p+"lease", "1", clientv3.WithLease(lease.ID))
	must(err)
	renewed, err := c.KeepAliveOnce(ctx, lease.ID)
	must(err)
	check(renewed.TTL == 60, "another time to live")
	times, err := c.TimeToLive(ctx, lease.ID, clientv3.WithAttachedKeys())
	must(err)
	check(len(times.Keys) == 1 && string(times.Keys[0]) == p+"lease", "other keys")
	_, err = c.Revoke(ctx, lease.ID)
	must(err)
	gone, err := c.Get(ctx, p+"lease")
	must(err)
	check(gone.Count == 0, "a key without its lease")
	ok("leases")
}

func watches(ctx context.Context, c *clientv3.Client) {
	first, err := c.Put(ctx, p+"watch/1", "1")
	must(err)
	_, err = c.Put(ctx, p+"watch/1", "2")
	must(err)
	watched, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	answers := c.Watch(watched, p+"watch/", clientv3.WithPrefix(), clientv3.WithRev(first.Header.Revision))
	_, err = c.Delete(ctx, p+"watch/1")
	must(err)
	var seen []string
	for len(seen) < 3 {
		answer, open := <-answers
		check(open && answer.Err() == nil, fmt.Sprint("the watch ended: ", answer.Err(), seen))
		for _, event := range answer.Events {
			seen = append(seen, event.Type.String()+string(event.Kv.Value))
		}
	}
	check(fmt.Sprint(seen) == "[PUT1 PUT2 DELETE]", fmt.Sprint(seen))
	ok("watches")
}

func compaction(ctx context.Context, c *clientv3.Client) {
	old, err := c.Put(ctx, p+"a", "old")
	must(err)
	now, err := c.Put(ctx, p+"a", "new")
	must(err)
	_, err = c.Compact(ctx, now.Header.Revision)
	must(err)
	_, err = c.Get(ctx, p+"a", clientv3.WithRev(old.Header.Revision))
	check(errors.Is(err, rpctypes.ErrCompacted), fmt.Sprint(err))
	ok("compaction")
}

func members(ctx context.Context, c *clientv3.Client) {
	all, err := c.MemberList(ctx)
	must(err)
	status, err := c.Status(ctx, os.Getenv("ENDPOINT"))
	must(err)
	check(len(all.Members) == 1 && status.Leader == all.Members[0].ID, "another leader")
	check(status.Version[:4] == "3.7.", status.Version)
	ok("members and status")
}

func locks(ctx context.Context, c *clientv3.Client) {
	one, err := concurrency.NewSession(c, concurrency.WithTTL(30))
	must(err)
	two, err := concurrency.NewSession(c, concurrency.WithTTL(30))
	must(err)
	first, second := concurrency.NewMutex(one, p+"lock"), concurrency.NewMutex(two, p+"lock")
	must(first.Lock(ctx))
	check(errors.Is(second.TryLock(ctx), concurrency.ErrLocked), "locked twice")
	must(first.Unlock(ctx))
	must(second.Lock(ctx))
	must(second.Unlock(ctx))
	must(one.Close())
	must(two.Close())
	ok("locks")
}

func logins(ctx context.Context, c *clientv3.Client) {
	_, err := c.UserAdd(ctx, "root", "r")
	must(err)
	_, err = c.UserGrantRole(ctx, "root", "root")
	must(err)
	_, err = c.RoleAdd(ctx, "part")
	must(err)
	_, err = c.RoleGrantPermission(ctx, "part", p+"part/", p+"part0", clientv3.PermissionType(clientv3.PermReadWrite))
	must(err)
	_, err = c.UserAdd(ctx, "some", "s")
	must(err)
	_, err = c.UserGrantRole(ctx, "some", "part")
	must(err)
	_, err = c.AuthEnable(ctx)
	must(err)
	root := connect("root", "r")
	defer root.Close()
	func() {
		defer func() {
			_, err := root.AuthDisable(ctx)
			must(err)
		}()
		some := connect("some", "s")
		defer some.Close()
		_, err := some.Put(ctx, p+"part/1", "1")
		must(err)
		found, err := some.Get(ctx, p+"part/1")
		must(err)
		check(string(found.Kvs[0].Value) == "1", "another value")
		_, err = some.Get(ctx, "other")
		check(errors.Is(err, rpctypes.ErrPermissionDenied), fmt.Sprint(err))
	}()
	for _, user := range []string{"some", "root"} {
		_, err = c.UserDelete(ctx, user)
		must(err)
	}
	_, err = c.RoleDelete(ctx, "part")
	must(err)
	ok("logins")
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	client := connect("", "")
	defer client.Close()
	for _, step := range []func(context.Context, *clientv3.Client){
		putAndGet, ranges, transactions, deletes, leases, watches, compaction, members, locks, logins,
	} {
		step(ctx, client)
	}
}

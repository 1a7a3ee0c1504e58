// Command apiserver runs a real Kubernetes API server over an embedded etcd
// in one process, for end-to-end tests on one machine.
//
//	apiserver -dir DIR [-port N] [-until-stdin-closes] [-- kube-apiserver flags...]
//
// It writes DIR/kubeconfig, whose contexts are:
//
//	token   a bearer token of a cluster admin (the current context)
//	cert    a client certificate of a cluster admin
//	user    a bearer token whose rights come from a role binding: unlike the admins it is held to the server's request limits
//	nobody  a bearer token that no role binds to: every request is a 403
//
// and, once the server answers ready, prints "ready URL KUBECONFIG" on standard output.
// Everything listens on the loopback address. DIR keeps the data and the certificates:
// starting again with the same DIR and port is a restart of the same cluster.
// SIGKILL ends it at once; SIGTERM too, but open watches stay silent for up to a minute first.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

const (
	adminToken  = "admin-token"
	userToken   = "user-token"
	nobodyToken = "nobody-token"
	host        = "127.0.0.1"
)

func main() {
	dir := flag.String("dir", "", "folder for data, certificates and kubeconfig (default: a new temporary one)")
	port := flag.Int("port", 0, "port of the API server on the loopback address (default: a free one)")
	untilStdinCloses := flag.Bool("until-stdin-closes", false, "end when standard input closes, so that no server outlives the process that started it")
	flag.Parse()
	if *untilStdinCloses {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(0)
		}()
	}
	if err := run(*dir, *port, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "apiserver:", err)
		os.Exit(1)
	}
}

func run(dir string, port int, extra []string) error {
	var err error
	if dir == "" {
		if dir, err = os.MkdirTemp("", "apiserver-"); err != nil {
			return err
		}
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	if err = os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if port == 0 {
		if port, err = freePort(); err != nil {
			return err
		}
	}
	etcd, err := startEtcd(filepath.Join(dir, "etcd"))
	if err != nil {
		return err
	}
	defer etcd.Close()

	pki, err := loadOrWritePKI(dir)
	if err != nil {
		return err
	}
	server := fmt.Sprintf("https://%s:%d", host, port)
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err = writeKubeconfig(kubeconfig, server, pki); err != nil {
		return err
	}
	tokens := filepath.Join(dir, "tokens.csv")
	lines := adminToken + ",admin,admin,\"system:masters\"\n" + userToken + ",user,user\n" + nobodyToken + ",nobody,nobody\n"
	if err = os.WriteFile(tokens, []byte(lines), 0o600); err != nil {
		return err
	}

	go announceReady(server, kubeconfig, pki.ca)

	os.Args = append([]string{
		"kube-apiserver",
		"--etcd-servers=" + etcd.Clients[0].Addr().String(),
		"--bind-address=" + host,
		fmt.Sprintf("--secure-port=%d", port),
		"--tls-cert-file=" + pki.path("server.crt"),
		"--tls-private-key-file=" + pki.path("server.key"),
		"--client-ca-file=" + pki.path("ca.crt"),
		"--token-auth-file=" + tokens,
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + pki.path("sa.crt"),
		"--service-account-signing-key-file=" + pki.path("sa.key"),
		"--service-cluster-ip-range=10.0.0.0/24",
		"--disable-admission-plugins=ServiceAccount",
		"--shutdown-delay-duration=0s",
	}, extra...)
	if code := cli.Run(app.NewAPIServerCommand()); code != 0 {
		return fmt.Errorf("kube-apiserver ended with status %d", code)
	}
	return nil
}

const userBinding = `{"metadata":{"name":"test-user"},
"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"cluster-admin"},
"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"user"}]}`

func startEtcd(dir string) (*embed.Etcd, error) {
	loopback := []url.URL{{Scheme: "http", Host: host + ":0"}}
	cfg := embed.NewConfig()
	cfg.Dir = dir
	cfg.LogLevel = "error"
	cfg.UnsafeNoFsync = true // a test's data need not survive a power cut
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = loopback, loopback
	cfg.ListenPeerUrls = loopback
	etcd, err := embed.StartEtcd(cfg)
	if err != nil {
		return nil, err
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return etcd, nil
	case err = <-etcd.Err():
	case <-time.After(30 * time.Second):
		err = errors.New("etcd was not ready within 30 s")
	}
	etcd.Close()
	return nil, err
}

// announceReady prints the ready line once /readyz answers 200 and the user has its rights.
func announceReady(server, kubeconfig string, ca *x509.Certificate) {
	roots := x509.NewCertPool()
	roots.AddCert(ca)
	client := http.Client{
		Timeout:   2 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}},
	}
	status := func(method, path, body string) int {
		req, _ := http.NewRequest(method, server+path, strings.NewReader(body))
		req.Header.Set("Authorization", "Bearer "+adminToken)
		req.Header.Set("Content-Type", "application/json")
		res, err := client.Do(req)
		if err != nil {
			return 0
		}
		res.Body.Close()
		return res.StatusCode
	}
	const bindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
	for range time.Tick(100 * time.Millisecond) {
		if status(http.MethodGet, "/readyz", "") != http.StatusOK {
			continue
		}
		code := status(http.MethodPost, bindings, userBinding)
		if code == http.StatusCreated || code == http.StatusConflict {
			fmt.Println("ready", server, kubeconfig)
			return
		}
	}
}

// pki is a certificate authority with a server and an admin certificate, on disk in dir.
type pki struct {
	dir string
	ca  *x509.Certificate
}

func (p pki) path(name string) string { return filepath.Join(p.dir, name) }

// loadOrWritePKI keeps what an earlier start wrote: a client that outlives a restart goes on trusting the server.
func loadOrWritePKI(dir string) (pki, error) {
	p := pki{dir: filepath.Join(dir, "pki")}
	if _, err := os.Stat(p.path("sa.crt")); err != nil { // the file written last
		if err = p.writeAll(); err != nil {
			return p, err
		}
	}
	pemBytes, err := os.ReadFile(p.path("ca.crt"))
	if err != nil {
		return p, err
	}
	block, _ := pem.Decode(pemBytes)
	if block == nil {
		return p, fmt.Errorf("%s holds no certificate", p.path("ca.crt"))
	}
	p.ca, err = x509.ParseCertificate(block.Bytes)
	return p, err
}

func (p pki) writeAll() error {
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return err
	}
	now := time.Now()
	template := func(serial int64, name pkix.Name) *x509.Certificate {
		return &x509.Certificate{
			SerialNumber: big.NewInt(serial), Subject: name,
			NotBefore: now.Add(-time.Hour), NotAfter: now.Add(30 * 24 * time.Hour),
			KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		}
	}
	ca := template(1, pkix.Name{CommonName: "test-ca"})
	ca.IsCA, ca.BasicConstraintsValid = true, true
	ca.KeyUsage |= x509.KeyUsageCertSign
	caKey, err := p.write("ca", ca, nil, nil)
	if err != nil {
		return err
	}
	server := template(2, pkix.Name{CommonName: "kube-apiserver"})
	server.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	server.IPAddresses = []net.IP{net.ParseIP(host), net.ParseIP("10.0.0.1")}
	server.DNSNames = []string{"localhost", "kubernetes.default.svc"}
	if _, err = p.write("server", server, ca, caKey); err != nil {
		return err
	}
	admin := template(3, pkix.Name{CommonName: "admin", Organization: []string{"system:masters"}})
	admin.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if _, err = p.write("admin", admin, ca, caKey); err != nil {
		return err
	}
	_, err = p.write("sa", template(4, pkix.Name{CommonName: "sa"}), ca, caKey)
	return err
}

// write makes name.key and name.crt, signed by parent (nil: by itself).
func (p pki) write(name string, cert, parent *x509.Certificate, parentKey *ecdsa.PrivateKey) (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	if parent == nil {
		parent, parentKey = cert, key
	}
	crt, err := x509.CreateCertificate(rand.Reader, cert, parent, &key.PublicKey, parentKey)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key) // tests sign certificates of their own with the authority's
	if err != nil {
		return nil, err
	}
	block := &pem.Block{Type: "PRIVATE KEY", Bytes: der}
	if err = os.WriteFile(p.path(name+".key"), pem.EncodeToMemory(block), 0o600); err != nil {
		return nil, err
	}
	block = &pem.Block{Type: "CERTIFICATE", Bytes: crt}
	return key, os.WriteFile(p.path(name+".crt"), pem.EncodeToMemory(block), 0o600)
}

func writeKubeconfig(path, server string, p pki) error {
	ca, err := os.ReadFile(p.path("ca.crt"))
	if err != nil {
		return err
	}
	cfg := clientcmdapi.NewConfig()
	cfg.Clusters["test"] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: ca}
	cfg.AuthInfos["token"] = &clientcmdapi.AuthInfo{Token: adminToken}
	cfg.AuthInfos["cert"] = &clientcmdapi.AuthInfo{ClientCertificate: p.path("admin.crt"), ClientKey: p.path("admin.key")}
	cfg.AuthInfos["user"] = &clientcmdapi.AuthInfo{Token: userToken}
	cfg.AuthInfos["nobody"] = &clientcmdapi.AuthInfo{Token: nobodyToken}
	for user := range cfg.AuthInfos {
		cfg.Contexts[user] = &clientcmdapi.Context{Cluster: "test", AuthInfo: user, Namespace: "default"}
	}
	cfg.CurrentContext = "token"
	return clientcmd.WriteToFile(*cfg, path)
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", host+":0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

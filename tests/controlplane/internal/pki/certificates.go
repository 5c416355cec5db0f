// Package pki makes what tells the parts of a control plane who is who: certificates, keys, tokens
// and kubeconfigs.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"time"
)

// Long enough for a cluster that somebody forgot.
const validity = 10 * 365 * 24 * time.Hour

// Authority signs certificates.
type Authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	// Its certificate as PEM, for clients.
	PEM []byte
}

// NewAuthority makes an authority and writes its certificate and key.
func NewAuthority(certificateFile, keyFile string, now time.Time) (*Authority, error) {
	template := template("sluice-controlplane", now)
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	authority := &Authority{certificate: certificate, key: key, PEM: toPEM("CERTIFICATE", der)}
	if err := os.WriteFile(certificateFile, authority.PEM, 0o600); err != nil {
		return nil, err
	}
	return authority, writeKey(keyFile, key)
}

// Serve writes a certificate and key for servers on this machine's loopback.
func (a *Authority) Serve(certificateFile, keyFile string, now time.Time) error {
	template := template("kube-apiserver", now)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	template.DNSNames = []string{
		"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return err
	}
	if err := os.WriteFile(certificateFile, toPEM("CERTIFICATE", der), 0o600); err != nil {
		return err
	}
	return writeKey(keyFile, key)
}

// NewKey writes a key without a certificate: the one that signs ServiceAccounts' tokens.
func NewKey(file string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	return writeKey(file, key)
}

func template(name string, now time.Time) *x509.Certificate {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		panic(err) // crypto/rand doesn't fail on any system that we know.
	}
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-time.Minute),
		NotAfter:     now.Add(validity),
	}
}

func writeKey(file string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return os.WriteFile(file, toPEM("EC PRIVATE KEY", der), 0o600)
}

func toPEM(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

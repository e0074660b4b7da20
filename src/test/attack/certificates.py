"""An authority and certificates of it, by openssl's command line."""
import shutil
import ssl
import subprocess

from suite import Skipped

KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")


class Authority:
    def __init__(self, folder, name="authority"):
        if not shutil.which("openssl"):
            raise Skipped("openssl is not installed")
        self.folder = folder / "certificates"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.key, self.file = self.folder / f"{name}.key", self.folder / f"{name}.pem"
        openssl("req", "-x509", *KEY, "-keyout", self.key, "-out", self.file, "-subj", f"/CN={name}", "-days", 30)

    def certificate(self, name, san, days=30):
        """Files of a certificate and its key; negative days: it has run out."""
        key, asked, file, extension = (self.folder / f"{name}.{end}" for end in ("key", "csr", "pem", "ext"))
        openssl("req", *KEY, "-keyout", key, "-out", asked, "-subj", f"/CN={name}")
        extension.write_text(f"subjectAltName={san}\n")
        openssl("x509", "-req", "-in", asked, "-CA", self.file, "-CAkey", self.key, "-CAcreateserial", "-days", days, "-extfile", extension, "-out", file)
        return file, key

    def client(self, *protocols):
        context = ssl.create_default_context(cafile=str(self.file))
        if protocols:
            context.set_alpn_protocols(protocols)
        return context

    def server(self, name, san, days=30):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.certificate(name, san, days))
        return context


def openssl(*arguments):
    done = subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"openssl {arguments[0]}: {done.stderr}")

#cloud-boothook
#!/bin/sh
echo alone

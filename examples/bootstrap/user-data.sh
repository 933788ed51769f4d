#!/bin/bash
# User-data of a launch template for EKS' images before Amazon Linux 2023, as it is: it calls the image's bootstrap.sh. Where
# that is a link to the agent, nothing else has to change (docs/node.md, "In place of bootstrap.sh").
#
# The certificate is an example's: nobody has its key.
set -o errexit -o xtrace

/etc/eks/bootstrap.sh quarry \
  --apiserver-endpoint https://EXAMPLE0123456789ABCDEF0123456789.gr7.eu-central-1.eks.amazonaws.com \
  --b64-cluster-ca LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJsakNDQVQyZ0F3SUJBZ0lVQitPVUVGT2liaHFnekljTUQ0dGdvUFZ3dlk4d0NnWUlLb1pJemowRUF3SXcKSURFZU1Cd0dBMVVFQXd3VlpYaGhiWEJzWlMxcmRXSmxjbTVsZEdWekxXTmhNQ0FYRFRJMk1URXhOVEl4TURBeApObG9ZRHpJeE1qWXhNREl5TWpFd01ERTJXakFnTVI0d0hBWURWUVFEREJWbGVHRnRjR3hsTFd0MVltVnlibVYwClpYTXRZMkV3V1RBVEJnY3Foa2pPUFFJQkJnZ3Foa2pPUFFNQkJ3TkNBQVQrWDliVHBIUVh4WmNqQmpwOWV4ZG8KNG1YWkw4aTh5RVVXU3lIYzF4K0pQYjZmQWsxYUNZQ2w3OGROcnlicXJ0SjBPRXEwOTdEZnBieDRjYktXQTZ2TgpvMU13VVRBZEJnTlZIUTRFRmdRVWlpSXdOakwxRW5TREZua3k0Wk56Tkd2L1JaMHdId1lEVlIwakJCZ3dGb0FVCmlpSXdOakwxRW5TREZua3k0Wk56Tkd2L1JaMHdEd1lEVlIwVEFRSC9CQVV3QXdFQi96QUtCZ2dxaGtqT1BRUUQKQWdOSEFEQkVBaUFtSDRFQi9vR3pBakRSVjZyT0RYdjNEckVCNm1LQnpvZUU0MjNkQVZCUzZnSWdQV1Y0Q3BTWQp6UEU2dHYwS1phUUQ4QlpNM1hJU1FPdGR2WWdaQkE3elM3WT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo= \
  --service-ipv4-cidr 10.100.0.0/16 \
  --use-max-pods false \
  --kubelet-extra-args '--node-labels=example.com/pool=general --max-pods=58'
